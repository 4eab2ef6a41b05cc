// SPDX-License-Identifier: Apache-2.0
// Mouse, fingers and keys. On the skin a pointer pulls the flesh, beside it the camera turns; with shift the camera
// turns everywhere. A second finger belongs to the camera.

export function listenToPointers(thing, stage, hint) {
  const { canvas, controls } = stage;
  controls.addEventListener('start', () => (stage.touched = true));
  if (!thing.pull) return;
  hint.textContent = matchMedia('(pointer: coarse)').matches ? 'Pull it with a finger' : 'Pull it with the mouse';
  hint.hidden = false;
  setTimeout(() => hint.classList.add('gone'), 6000);
  const { pull } = thing;
  // Before OrbitControls hears of it.
  listenToBrush(thing, canvas);
  canvas.addEventListener('pointerdown', (event) => {
    if (thing.brush?.on || event.button !== 0 || event.shiftKey || pull.active || !pull.begin(event.pointerId, event.clientX, event.clientY)) return;
    event.stopImmediatePropagation();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add('pulling');
    hint.classList.add('gone');
  }, { capture: true });
  canvas.addEventListener('pointermove', (event) => {
    if (pull.grabs.has(event.pointerId)) pull.move(event.pointerId, event.clientX, event.clientY);
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
    canvas.addEventListener(end, (event) => {
      if (!pull.grabs.has(event.pointerId)) return;
      pull.end(event.pointerId);
      canvas.classList.remove('pulling');
    });
  thing.poke = () => poke(thing, stage);
}

/** While painting, a pointer on the skin is a brush. */
function listenToBrush(thing, canvas) {
  const { brush, pull } = thing;
  if (!brush) return;
  let painting = null;
  const dab = (event) => {
    const hit = pull.hit(event.clientX, event.clientY);
    if (hit) brush.dab(hit.point);
    thing.setColour('brush');
    return hit !== null;
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (!brush.on || event.button !== 0 || event.shiftKey || painting !== null || !pull.hit(event.clientX, event.clientY)) return;
    event.stopImmediatePropagation();
    canvas.setPointerCapture(event.pointerId);
    painting = event.pointerId;
    brush.begin();
    dab(event);
  }, { capture: true });
  canvas.addEventListener('pointermove', (event) => painting === event.pointerId && dab(event));
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
    canvas.addEventListener(end, (event) => painting === event.pointerId && (painting = null));
  /** What the mouse does, without one. */
  thing.dabMiddle = (stage) => {
    const bounds = canvas.getBoundingClientRect();
    const hit = pull.hit(bounds.left + (bounds.width - stage.inset) / 2, bounds.top + bounds.height / 2);
    if (!hit) return;
    brush.begin();
    for (let k = 0; k < 6; ++k) brush.dab(hit.point);
    thing.setColour('brush');
  };
}

/** What the mouse does, without one: the skin in the middle of the picture is pulled aside and let go. */
function poke(thing, stage) {
  const { pull } = thing;
  if (pull.active) return;
  const bounds = stage.canvas.getBoundingClientRect();
  const hit = pull.hit(bounds.left + (bounds.width - stage.inset) / 2, bounds.top + bounds.height / 2);
  if (!hit) return;
  const up = stage.camera.up.clone().applyQuaternion(stage.camera.quaternion);
  pull.hold('key', hit.vertex, up.multiplyScalar(0.1 * thing.character.height), 0.25);
}

export function listenToKeys(thing, player, panel, stage, togglePanel) {
  const keys = {
    ' ': () => player.toggle(),
    ArrowLeft: () => player.nudge(-1 / 30),
    ArrowRight: () => player.nudge(1 / 30),
    ArrowUp: () => player.choose(player.index - 1),
    ArrowDown: () => player.choose(player.index + 1),
    1: () => panel.view?.set('soft'),
    2: () => panel.view?.set('beside'),
    3: () => panel.view?.set('overlaid'),
    c: () => panel.toggleColour?.(),
    w: () => panel.wire?.toggle(),
    b: () => panel.bones?.toggle(),
    f: () => (thing.brush?.on ? thing.dabMiddle(stage) : thing.poke?.()),
    j: () => panel.joints?.toggle(),
    k: () => panel.contacts?.toggle(),
    s: () => panel.brush?.() ?? panel.record?.(),
    z: () => panel.undo?.(),
    x: () => panel.cut?.('x'),
    y: () => panel.cut?.('y'),
    '[': () => panel.moveCut?.(-0.02),
    ']': () => panel.moveCut?.(0.02),
    r: () => panel.reset?.(),
    p: togglePanel,
    t: () => stage.setTheme(stage.theme === 'dark' ? 'light' : 'dark'),
    ',': () => turn(stage, -0.15),
    '.': () => turn(stage, 0.15),
    '+': () => zoom(stage, 0.9),
    '-': () => zoom(stage, 1 / 0.9),
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const own = event.target;
    // A slider, a list or a button knows what its keys mean.
    if (own instanceof HTMLSelectElement) return;
    if (own instanceof HTMLInputElement && /^(Arrow|\s)/.test(event.key)) return;
    if (own instanceof HTMLButtonElement && event.key === ' ') return;
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function turn(stage, angle) {
  stage.touched = true;
  const { camera, controls } = stage;
  camera.position.sub(controls.target).applyAxisAngle(camera.up, angle).add(controls.target);
}

function zoom(stage, factor) {
  stage.touched = true;
  const { camera, controls } = stage;
  camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
}
