// SPDX-License-Identifier: Apache-2.0
// What the panel offers for a thing: only what it can do.
import { heatGradient } from './colours.js';
import { Panel } from './panel.js';

const GRAPH_EVERY = 0.1; // [s]: drawing curves costs time that pictures want
const percent = (x) => `${Math.round(100 * x)} %`;

function fillView(panel, thing) {
  const section = panel.section('View');
  const soft = thing.pull ? 'Soft' : 'Baked';
  const views = [['soft', soft, `${soft} alone (1)`], ['beside', 'Beside', 'Rigid beside soft (2)'], ['overlaid', 'Overlaid', 'Rigid over soft (3)']];
  const alone = thing.isSolid || (!thing.pull && !thing.original);
  const view = alone ? null : section.choice('View', views, thing.view, (key) => thing.setView(key));
  const colour = thing.colours && fillColour(section, thing);
  const checks = section.checks();
  const wire = checks.add('Wireframe', 'Wireframe (W)', false, (on) => thing.setWireframe(on));
  const bones = thing.setBones && checks.add('Bones', 'Bones (B)', false, (on) => thing.setBones(on));
  const joints = thing.handles && checks.add('Move limbs', 'Handles on hands and feet, to drag (J)', false, (on) => thing.handles.show(on));
  const contacts = thing.setContacts && checks.add('Contacts', 'Dots where skin touches skin (K)', false, (on) => thing.setContacts(on));
  if (thing.setEdges) checks.add('Elements', 'Edges of elements', true, (on) => thing.setEdges(on));
  if (thing.skin) checks.add('Skin', 'The skin around', true, (on) => thing.setSkin(on));
  return { view, wire, bones, joints, contacts, ...colour };
}

function fillColour(section, thing) {
  let last = thing.colours[1]?.[0] ?? 'plain';
  const list = section.select('Colour', 'What colours show (C)', thing.colours, 'plain', (key) => {
    if (key !== 'plain') last = key;
    thing.setColour(key);
    legend.set(thing.legend);
  });
  const legend = section.legend(heatGradient);
  return { colour: list, toggleColour: () => list.set(list.value === 'plain' ? last : 'plain') };
}

/** A plane through a solid mesh. */
function fillCut(panel, thing) {
  const section = panel.section('Cut');
  const axis = section.choice('Cut across', [['none', 'Whole'], ['x', 'X', 'Across x (X)'], ['y', 'Y', 'Across y (Y)'], ['z', 'Z', 'Across z']], 'none', (key) => thing.setCut(key, thing.cut.share));
  const place = section.slider('Place', { min: 0, max: 1, step: 0.005, value: 0.5, title: 'Where the plane cuts ([ ])', format: percent },
    (x) => thing.setCut(thing.cut.axis, x));
  return {
    cut: (key) => axis.set(thing.cut.axis === key ? 'none' : key),
    moveCut(by) {
      if (thing.cut.axis === 'none') axis.set('z');
      const share = Math.min(1, Math.max(0, thing.cut.share + by));
      place.set(share);
      thing.setCut(thing.cut.axis, share);
    },
  };
}

function fillModes(panel, thing, player) {
  if (!thing.clips.length) return {};
  const section = panel.section('Modes');
  const mode = section.slider('Mode', { min: 1, max: thing.clips.length, step: 1, value: 1, title: 'Which mode (up, down)', format: (x) => String(x) }, (x) => player.choose(x - 1));
  const frequency = section.table(['Frequency']);
  section.slider('Amplitude', { min: 0, max: 0.3, step: 0.005, value: thing.amplitude, title: 'Largest displacement, of the size', format: percent },
    (x) => thing.setAmplitude(x));
  return {
    showMode() {
      mode.set(thing.mode + 1);
      frequency.set([`${Number(thing.frequencies[thing.mode].toPrecision(6))} Hz`]);
    },
  };
}

/** Paint for [[paint]] of a recipe. */
function fillBrush(panel, thing, colour, canvas) {
  const section = panel.section('Paint softness'), { brush } = thing;
  section.slider('Softness', { min: 1 / 8, max: 8, step: 0.125, value: brush.softness, title: 'Softness that is painted; 1 is as it was', format: (x) => `${x.toFixed(2)}×` },
    (x) => (brush.softness = x));
  section.slider('Brush', { min: 0.01, max: 0.25, step: 0.005, value: brush.radius, title: 'Radius of the brush, of the height', format: percent },
    (x) => (brush.radius = x));
  const note = section.note();
  const show = () => colour.set('brush');
  const toggle = () => {
    brush.on = !brush.on;
    canvas.classList.toggle('painting', brush.on);
    box.firstChild.setAttribute('aria-pressed', String(brush.on));
    if (brush.on) show();
    else if (colour.value === 'brush') colour.set('plain');
    note.textContent = brush.on ? 'Drag on the skin, or F for its middle.' : '';
    return true;
  };
  const undo = () => {
    brush.undo();
    show();
  };
  const box = section.buttons(
    ['Paint', 'Paint instead of pulling (S)', toggle],
    ['Undo', 'Undo a stroke (Z)', undo],
    ['Save', 'The file that [[paint]] of a recipe reads', () => {
      brush.save();
      note.textContent = 'Saved. Put it beside the recipe, add this, and build again:';
      code.textContent = brush.recipe;
      code.hidden = false;
    }]);
  box.firstChild.setAttribute('aria-pressed', 'false');
  section.root.append(note);
  const code = section.code();
  return { brush: toggle, undo };
}

/** Loads for a basis that knows them. */
function fillSketch(panel, thing) {
  const section = panel.section('Sketch'), { sketch } = thing;
  const note = section.note();
  const record = () => {
    sketch.recording = !sketch.recording;
    box.firstChild.setAttribute('aria-pressed', String(sketch.recording));
    return true;
  };
  const box = section.buttons(
    ['Record', 'Note the forces of pulls, ten times a second (S)', record],
    ['Clear', 'Forget what was recorded', () => sketch.clear()],
    ['Save', 'The file that supple build --sketch reads', () => sketch.save()]);
  box.firstChild.setAttribute('aria-pressed', 'false');
  return {
    record,
    showSketch: () => (note.textContent = sketch.loads.length || sketch.recording ? `${sketch.loads.length} loads${sketch.recording ? ': pull' : ''}` : 'A basis made of what you pull at: record, pull, save, then supple build --sketch.'),
  };
}

function fillFlesh(panel, thing) {
  const section = panel.section('Flesh');
  const most = thing.character.coordinateCount;
  const sliders = [];
  const add = (name, options, change) => sliders.push([section.slider(name, options, change), options.value, change]);
  add('Softness', { min: 0.25, max: 4, step: 0.05, value: 1, title: 'How much softer all of the flesh is than it was built', format: (x) => `${x.toFixed(2)}×` },
    (x) => thing.set('softness', x));
  add('Damping', { min: 0, max: 0.6, step: 0.01, value: thing.ownDamping, title: 'Damping ratio', format: percent },
    (x) => thing.set('damping', x));
  add('Drive', { min: 0, max: 3, step: 0.05, value: 1, title: 'How strongly motion drives the flesh', format: (x) => `${x.toFixed(2)}×` },
    (x) => thing.set('drive', x));
  add('Gravity', { min: -20, max: 20, step: 0.5, value: 0, title: 'Weight besides what the rig was drawn with [m/s²]', format: (x) => x.toFixed(1) },
    (x) => thing.setGravity(x));
  add('Wind', { min: -12, max: 12, step: 0.5, value: 0, title: 'Air from the side [m/s]', format: (x) => x.toFixed(1) },
    (x) => thing.setWind(x));
  add('Detail', { min: Math.min(8, most), max: most, step: 1, value: most, title: 'Number of coordinates', format: () => String(thing.flesh.state.detail) },
    (x) => {
    thing.flesh.state.setDetail(x, 0.3);
    thing.lowered = false;
  });
  section.buttons(
    ['Shake', 'Pull what is in the middle of the picture (F)', () => thing.poke?.()],
    ['Reset', 'Flesh at rest, settings as they were (R)', () => reset()]);
  const reset = () => {
    for (const [slider, value, change] of sliders) {
      slider.set(value);
      change(value);
    }
    thing.set('damping', undefined);
    thing.reset();
  };
  return { reset, showDetail: () => sliders[5][0].set(Math.max(thing.flesh.state.detail, Math.min(8, most))) };
}

/** What acts on a deformable object. */
function fillObject(panel, thing) {
  const section = panel.section('What acts on it');
  const sliders = [];
  const add = (name, options, change) => sliders.push([section.slider(name, options, change), options.value, change]);
  add('Gravity', { min: -20, max: 20, step: 0.5, value: 0, title: 'Downwards, besides what it was modelled with [m/s²]', format: (x) => x.toFixed(1) },
    (x) => thing.setGravity(x));
  if (thing.hasWind)
    add('Wind', { min: -12, max: 12, step: 0.5, value: 0, title: 'Air from the side, with gusts [m/s]', format: (x) => x.toFixed(1) },
      (x) => thing.setWind(x));
  const reset = () => {
    for (const [slider, value, change] of sliders) {
      slider.set(value);
      change(value);
    }
    thing.reset();
  };
  section.buttons(
    ['Shake', 'Pull what is in the middle of the picture (F)', () => thing.poke?.()],
    ['Reset', 'At rest, settings as they were (R)', () => reset()]);
  return { reset };
}

function fillComputing(panel, thing, stage) {
  const section = panel.section('Computing');
  if (thing.isSolid) return { table: section.table(['Shape', 'Picture', 'Pictures a second']) };
  if (thing.isObject) return { table: section.table(['Steps', 'Surface', 'Picture', 'Pictures a second']) };
  if (!thing.pull) return { table: section.table(['Clips', 'Picture', 'Pictures a second']), thing };
  const product = section.choice('Who multiplies u = Uq', [['processor', 'Processor'], ['card', 'Graphics card']], 'processor', (key) => thing.setProduct(key));
  if (!thing.canUseCard) product.disable('card', 'This rig is skinned otherwise than the card does');
  const table = section.table(['Joints', 'Flesh', 'Surface', 'Picture', 'Pictures a second', 'Steps missed']);
  const time = section.graph('Milliseconds of each picture: joints, flesh, surface, drawing', ['--third', '--accent', '--kinetic', '--fourth'], ['joints', 'flesh', 'surface', 'picture: ms']);
  const graph = section.graph('Energy of the flesh: elastic and kinetic', ['--accent', '--kinetic'], ['elastic', 'kinetic: J']);
  const note = section.note();
  section.buttons(['Compare', 'Processor against graphics card, on what is shown now', () => {
    const difference = thing.compareProducts(stage.renderer);
    note.textContent = difference === null ? 'This card does not compute with floats.' :
      `Card and processor differ by ${difference.toExponential(1)} of the height.`;
  }]);
  return { table, time, graph, note };
}

export function fillPanel(thing, stage, player, facts) {
  const panel = new Panel(document.getElementById('panel'));
  const view = fillView(panel, thing);
  const flesh = thing.isSolid ? { ...fillModes(panel, thing, player), ...fillCut(panel, thing) }
    : thing.isObject ? fillObject(panel, thing) : thing.pull ? fillFlesh(panel, thing) : null;
  const made = thing.brush ? fillBrush(panel, thing, view.colour, stage.canvas) : thing.sketch ? fillSketch(panel, thing) : null;
  const computing = fillComputing(panel, thing, stage);
  let drawnAt = 0;
  const milliseconds = (x) => `${x.toFixed(2)} ms`;
  return {
    ...view, ...flesh, ...made,
    sample(time) {
      if (!computing.graph || document.getElementById('panel').hidden) return;
      const { elastic, kinetic } = thing.flesh.state.energy();
      computing.graph.add(time, [Math.max(0, elastic), kinetic]);
      const { pose, step, show, draw } = thing.times;
      computing.time.add(time, [pose, step, show, draw]);
      if (time - drawnAt < GRAPH_EVERY) return;
      drawnAt = time;
      computing.graph.draw();
      computing.time.draw();
    },
    update() {
      const rate = Math.round(1 / stage.frameSeconds), { times } = thing;
      made?.showSketch?.();
      if (thing.isSolid) {
        flesh.showMode?.();
        computing.table.set([milliseconds(times.pose), milliseconds(times.draw), String(rate)]);
        facts.textContent = `${thing.vertexCount.toLocaleString('en')} vertices, ${thing.elementCount.toLocaleString('en')} ${thing.nodes === 4 ? 'tetrahedra' : 'bricks'}`;
      } else if (thing.isObject) {
        computing.table.set([milliseconds(times.step), milliseconds(times.show), milliseconds(times.draw), String(rate)]);
        const parts = thing.object.domainCount > 1 ? `${thing.object.domainCount.toLocaleString('en')} parts, ` : '';
        facts.textContent = `${parts}${thing.character.vertexCount.toLocaleString('en')} vertices, ${thing.object.coordinateCount} coordinates`;
      } else if (thing.pull) {
        flesh.showDetail();
        computing.table.set([milliseconds(times.pose), milliseconds(times.step), milliseconds(times.show), milliseconds(times.draw), String(rate), String(Math.round(thing.missed * 240))]);
        if (thing.lowered) computing.note.textContent = `Too slow for ${thing.character.coordinateCount} coordinates in real time: fewer move.`;
        facts.textContent = `${thing.character.vertexCount.toLocaleString('en')} vertices, ${thing.flesh.state.detail} coordinates`;
      } else {
        computing.table.set([milliseconds(times.pose), milliseconds(times.draw), String(rate)]);
      }
    },
  };
}
