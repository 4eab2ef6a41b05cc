// SPDX-License-Identifier: Apache-2.0
// The stage: renderer, light, ground and camera, a resolution that follows the machine, and a graphics context that
// may get lost. What is shown on it is put there by others.
import {
  CanvasTexture, CircleGeometry, Color, DirectionalLight, HemisphereLight, Mesh, MeshBasicMaterial, NeutralToneMapping,
  PCFShadowMap, PerspectiveCamera, Scene, ShadowMaterial, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

const SLOW_FRAME = 0.036; // [s]: what is slower gets fewer pixels
const FAST_FRAME = 0.02;
const MOST_SOFTWARE_PIXELS = 1.2e6; // that a processor draws

function isSoftware(gl) {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  return /swiftshader|llvmpipe|software/i.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '');
}

function probeSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return null;
  const software = isSoftware(gl);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return software;
}

/** A disc that fades out: where the ground ends nobody can tell. */
function discTexture() {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 128;
  const context = canvas.getContext('2d');
  const fade = context.createRadialGradient(64, 64, 0, 64, 64, 64);
  for (let k = 0; k <= 8; ++k) fade.addColorStop(k / 8, `rgba(255,255,255,${(0.5 + 0.5 * Math.cos((Math.PI * k) / 8)) ** 1.5})`);
  context.fillStyle = fade;
  context.fillRect(0, 0, 128, 128);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

const themes = {
  dark: { sky: 0x1b1d22, ground: 0x4a4f5a, groundOpacity: 0.55, shadow: 0.42, hemisphere: 0.9, key: 2.6 },
  light: { sky: 0xe9ebef, ground: 0xffffff, groundOpacity: 0.9, shadow: 0.2, hemisphere: 1.5, key: 2.3 },
};

export class Stage {
  /** Throws where the browser has no WebGL 2. */
  constructor(canvas) {
    const software = probeSoftware();
    if (software === null)
      throw new Error('This browser has no WebGL 2, which the picture needs; open the page in a current browser.');
    this.software = software;
    document.documentElement.classList.toggle('software', software);
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: !software, powerPreference: 'high-performance' });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(30, 1, 0.01, 100);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.scale = software ? 0.75 : 1;
    this.inset = 0; // pixels on the right that something else covers
    this.frameSeconds = 1 / 60;
    this.lost = false;
    this.onRestored = () => {};
    this.#addLight();
    this.#watch();
    this.setTheme(matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark');
  }

  #addLight() {
    this.hemisphere = new HemisphereLight(0xffffff, 0x8a8078, 1);
    this.key = new DirectionalLight(0xfff4e8, 2.5);
    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(this.software ? 512 : 2048);
    this.key.shadow.radius = 4;
    this.key.shadow.bias = -0.0004;
    this.rim = new DirectionalLight(0xbfd4ff, 1.1);
    this.ground = new Mesh(new CircleGeometry(1, 48).rotateX(-Math.PI / 2),
      new MeshBasicMaterial({ map: discTexture(), transparent: true, depthWrite: false }));
    this.shade = new Mesh(this.ground.geometry, new ShadowMaterial());
    this.shade.receiveShadow = true;
    this.ground.renderOrder = -2;
    this.shade.renderOrder = -1;
    this.scene.add(this.hemisphere, this.key, this.key.target, this.rim, this.ground, this.shade);
  }

  #watch() {
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault(); // else it never comes back
      this.lost = true;
    });
    this.canvas.addEventListener('webglcontextrestored', () => {
      this.lost = false;
      this.onRestored();
    });
    document.addEventListener('visibilitychange', () => (this.wasHidden = true));
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  setTheme(name) {
    const theme = themes[name];
    this.theme = name;
    document.documentElement.dataset.theme = name;
    this.scene.background = new Color(theme.sky);
    this.ground.material.color.set(theme.ground);
    this.ground.material.opacity = theme.groundOpacity;
    this.shade.material.opacity = theme.shadow;
    this.hemisphere.intensity = theme.hemisphere;
    this.key.intensity = theme.key;
  }

  resize() {
    const width = Math.max(1, this.canvas.clientWidth), height = Math.max(1, this.canvas.clientHeight);
    const most = this.software ? Math.sqrt(MOST_SOFTWARE_PIXELS / (width * height)) : Infinity;
    this.renderer.setPixelRatio(Math.min(Math.min(devicePixelRatio, 2) * this.scale, most));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, this.inset / 2, 0, width, height);
    if (this.box && !this.touched) this.frame(this.box, this.front);
  }

  /** Puts camera, light and ground around a box; things that stand side by side are seen from the front. */
  frame(box, front = false) {
    this.box = box;
    this.front = front;
    const size = box.getSize(new Vector3()), middle = box.getCenter(new Vector3());
    const radius = 0.5 * size.length(), upright = Math.tan((this.camera.fov * Math.PI) / 360);
    const { clientWidth } = this.canvas, across = upright * this.camera.aspect * (1 - this.inset / Math.max(clientWidth, 1));
    // With room for title and player.
    const distance = Math.max((0.66 * size.y) / upright, (0.6 * Math.max(size.x, size.z * 0.7)) / across) + 0.5 * size.z;
    const from = new Vector3(front ? 0.12 : 0.42, 0.2, 1).normalize().multiplyScalar(distance);
    // The bar below takes room: what is shown stands a little above the middle.
    this.controls.target.copy(middle).y -= 0.05 * size.y;
    this.camera.position.copy(this.controls.target).add(from);
    this.camera.near = distance / 100;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = 0.3 * radius;
    this.controls.maxDistance = 12 * radius;
    this.controls.update();
    this.#frameLight(box, middle, radius);
  }

  #frameLight(box, middle, radius) {
    const floor = new Vector3(middle.x, box.min.y, middle.z);
    for (const disc of [this.ground, this.shade]) {
      disc.position.copy(floor);
      disc.scale.setScalar(5 * radius);
    }
    this.key.position.copy(middle).add(new Vector3(1.2, 2.2, 1.6).multiplyScalar(1.6 * radius));
    this.key.target.position.copy(middle);
    this.rim.position.copy(middle).add(new Vector3(-1.6, 1.2, -1.8).multiplyScalar(radius));
    const shadow = this.key.shadow.camera, reach = 1.5 * radius;
    Object.assign(shadow, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * radius, far: 10 * radius });
    shadow.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.02 * radius;
  }

  /** Draws; `seconds` since the last picture tell whether the machine keeps up. */
  draw(seconds) {
    if (this.lost) return;
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.#adapt(seconds);
  }

  #adapt(seconds) {
    if (this.wasHidden) {
      this.wasHidden = document.hidden;
      return;
    }
    this.frameSeconds += 0.1 * (Math.min(seconds, 0.5) - this.frameSeconds);
    this.framesAtScale = (this.framesAtScale ?? 0) + 1;
    if (this.framesAtScale < 20) return;
    const before = this.scale;
    if (this.frameSeconds > SLOW_FRAME) this.scale = Math.max(0.3, 0.85 * this.scale);
    else if (this.frameSeconds < FAST_FRAME && this.scale < 1 && this.framesAtScale > 240) this.scale = Math.min(1, 1.1 * this.scale);
    this.framesAtScale = 0;
    if (this.scale !== before) this.resize();
  }
}
