// SPDX-License-Identifier: Apache-2.0
// Clips and the bar below the picture: play, pause, scrub, speed. Several actors play the same clips by name; each is
// brought to a time by poseAt(), so that whoever simulates decides about steps.
import { AnimationMixer, LoopRepeat } from 'three';

const FADE = 0.25; // [s] from one clip to the next
const shapes = { play: 'M6 4l10 6-10 6z', pause: 'M6 4v12M14 4v12' };

/** The clips of one loaded file, on its own joints. */
export class Clips {
  constructor(root, animations) {
    this.mixer = new AnimationMixer(root);
    this.actions = new Map(animations.map((clip) => [clip.name, this.mixer.clipAction(clip).setLoop(LoopRepeat, Infinity)]));
    this.fading = null;
  }
  start(name, fade) {
    const next = this.actions.get(name), before = this.current;
    if (next === before) return;
    this.current = next;
    this.fading = fade && before && next ? { before, left: FADE, time: before.time } : null;
    if (before && !this.fading) before.stop();
    next?.reset().play();
  }
  /** Brings the joints to a time of the current clip; `seconds` have passed since the last call. */
  poseAt(time, seconds) {
    const action = this.current;
    if (!action) return;
    action.time = time;
    action.setEffectiveWeight(1);
    if (this.fading) this.#fade(seconds);
    this.mixer.update(0);
  }
  #fade(seconds) {
    const { fading } = this;
    fading.left -= seconds;
    const share = Math.max(0, fading.left / FADE);
    if (share === 0) {
      fading.before.stop();
      this.fading = null;
      return;
    }
    const s = share * share * (3 - 2 * share);
    fading.before.setEffectiveWeight(s);
    this.current.setEffectiveWeight(1 - s);
  }
}

export class Player {
  constructor(clips) {
    this.clips = clips; // [{name, duration}]
    this.index = 0;
    this.time = 0;
    this.playing = true;
    this.speed = 1;
    this.scrubbing = false;
    this.onClip = () => {};
    this.#find();
    this.#listen();
    this.#showState();
  }

  #find() {
    for (const name of ['play', 'clip', 'timeline', 'time', 'speed']) this[`${name}Element`] = document.getElementById(name);
    document.getElementById('player').hidden = false;
    this.clipElement.replaceChildren(...this.clips.map((clip, k) => new Option(clip.name || `clip ${k + 1}`, k)));
    if (this.clips.length === 0) this.clipElement.hidden = this.timelineElement.hidden = this.timeElement.hidden = true;
  }

  #listen() {
    this.playElement.addEventListener('click', () => this.toggle());
    this.clipElement.addEventListener('change', () => this.choose(Number(this.clipElement.value)));
    this.speedElement.addEventListener('change', () => (this.speed = Number(this.speedElement.value)));
    const { timelineElement: line } = this;
    line.addEventListener('input', () => {
      this.scrubbing = true;
      this.time = Number(line.value) * this.duration;
    });
    for (const end of ['change', 'pointerup', 'pointercancel', 'keyup']) line.addEventListener(end, () => (this.scrubbing = false));
  }

  get duration() {
    return this.clips[this.index]?.duration ?? 0;
  }
  get clip() {
    return this.clips[this.index];
  }

  toggle() {
    this.playing = !this.playing;
    this.#showState();
  }
  #showState() {
    document.getElementById('play-shape').setAttribute('d', this.playing ? shapes.pause : shapes.play);
    this.playElement.setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
  }

  choose(index) {
    if (this.clips.length === 0) return;
    this.index = (index + this.clips.length) % this.clips.length;
    this.clipElement.value = this.index;
    this.time = 0;
    this.onClip(this.clip);
  }

  /** So far by hand, as the arrow keys do. */
  nudge(seconds) {
    this.playing = false;
    this.#showState();
    this.time = this.#wrapped(this.time + seconds);
  }

  #wrapped(time) {
    const { duration } = this;
    return duration > 0 ? ((time % duration) + duration) % duration : 0;
  }

  /** Time goes on; says whether the clip began anew. */
  advance(seconds) {
    if (!this.playing || this.scrubbing || this.duration === 0) return false;
    const next = this.time + seconds;
    this.time = this.#wrapped(next);
    return next >= this.duration;
  }

  show() {
    if (this.duration === 0) return;
    if (!this.scrubbing) this.timelineElement.value = this.time / this.duration;
    this.timeElement.textContent = this.time.toFixed(2);
  }
}
