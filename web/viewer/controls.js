// SPDX-License-Identifier: Apache-2.0
// What the panel offers for a thing: only what it can do.
import { Panel } from './panel.js';

const percent = (x) => `${Math.round(100 * x)} %`;

function fillView(panel, thing) {
  const section = panel.section('View');
  const soft = thing.pull ? 'Soft' : 'Baked';
  const views = [['soft', soft, `${soft} alone (1)`], ['beside', 'Beside', 'Rigid beside soft (2)'], ['overlaid', 'Overlaid', 'Rigid over soft (3)']];
  const alone = !thing.pull && !thing.original;
  const view = alone ? null : section.choice('View', views, thing.view, (key) => thing.setView(key));
  const checks = section.checks();
  const paint = thing.setPaint && checks.add('Displacement', 'Colour by displacement (C)', false, (on) => thing.setPaint(on));
  const wire = checks.add('Wireframe', 'Wireframe (W)', false, (on) => thing.setWireframe(on));
  const bones = thing.setBones && checks.add('Bones', 'Bones (B)', false, (on) => thing.setBones(on));
  return { view, paint, wire, bones };
}

function fillFlesh(panel, thing) {
  const section = panel.section('Flesh');
  const most = thing.character.coordinateCount;
  const sliders = [];
  const add = (name, options, change) => sliders.push([section.slider(name, options, change), options.value, change]);
  add('Damping', { min: 0, max: 0.6, step: 0.01, value: thing.ownDamping, title: 'Damping ratio', format: percent },
    (x) => thing.set('damping', x));
  add('Drive', { min: 0, max: 3, step: 0.05, value: 1, title: 'How strongly motion drives the flesh', format: (x) => `${x.toFixed(2)}×` },
    (x) => thing.set('drive', x));
  add('Gravity', { min: -20, max: 20, step: 0.5, value: 0, title: 'Weight besides what the rig was drawn with [m/s²]', format: (x) => x.toFixed(1) },
    (x) => thing.flesh.state.setGravity([0, -x, 0]));
  add('Wind', { min: -12, max: 12, step: 0.5, value: 0, title: 'Air from the side [m/s]', format: (x) => x.toFixed(1) },
    (x) => thing.flesh.state.setWind([x, 0, 0], x === 0 ? 0 : 3));
  add('Detail', { min: Math.min(8, most), max: most, step: 1, value: most, title: 'Number of coordinates', format: () => String(thing.flesh.state.detail) },
    (x) => thing.flesh.state.setDetail(x, 0.3));
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
  return { reset, showDetail: () => sliders[4][0].set(Math.max(thing.flesh.state.detail, Math.min(8, most))) };
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
  if (thing.isObject) return { table: section.table(['Steps', 'Surface', 'Picture', 'Pictures a second']) };
  if (!thing.pull) return { table: section.table(['Clips', 'Picture', 'Pictures a second']), thing };
  const product = section.choice('Who multiplies u = Uq', [['processor', 'Processor'], ['card', 'Graphics card']], 'processor', (key) => thing.setProduct(key));
  if (!thing.canUseCard) product.disable('card', 'This rig is skinned otherwise than the card does');
  const table = section.table(['Joints', 'Flesh', 'Surface', 'Picture', 'Pictures a second', 'Steps missed']);
  const graph = section.graph('Energy of the flesh: elastic and kinetic', ['--accent', '--kinetic']);
  const note = section.note();
  section.buttons(['Compare', 'Processor against graphics card, on what is shown now', () => {
    const difference = thing.compareProducts(stage.renderer);
    note.textContent = difference === null ? 'This card does not compute with floats.' :
      `Card and processor differ by ${difference.toExponential(1)} of the height.`;
  }]);
  return { table, graph, note };
}

export function fillPanel(thing, stage, facts) {
  const panel = new Panel(document.getElementById('panel'));
  const view = fillView(panel, thing);
  const flesh = thing.isObject ? fillObject(panel, thing) : thing.pull ? fillFlesh(panel, thing) : null;
  const computing = fillComputing(panel, thing, stage);
  const milliseconds = (x) => `${x.toFixed(2)} ms`;
  return {
    ...view, ...flesh,
    sample(time) {
      if (!computing.graph || document.getElementById('panel').hidden) return;
      const { elastic, kinetic } = thing.flesh.state.energy();
      computing.graph.add(time, [Math.max(0, elastic), kinetic]);
      computing.graph.draw();
    },
    update() {
      const rate = Math.round(1 / stage.frameSeconds), { times } = thing;
      if (thing.isObject) {
        computing.table.set([milliseconds(times.step), milliseconds(times.show), milliseconds(times.draw), String(rate)]);
        const parts = thing.object.domainCount > 1 ? `${thing.object.domainCount.toLocaleString('en')} parts, ` : '';
        facts.textContent = `${parts}${thing.character.vertexCount.toLocaleString('en')} vertices, ${thing.object.coordinateCount} coordinates`;
      } else if (thing.pull) {
        flesh.showDetail();
        computing.table.set([milliseconds(times.pose), milliseconds(times.step), milliseconds(times.show), milliseconds(times.draw), String(rate), String(Math.round(thing.missed * 240))]);
        if (!computing.note.textContent) computing.note.textContent = 'Energy: elastic, and kinetic in blue.';
        facts.textContent = `${thing.character.vertexCount.toLocaleString('en')} vertices, ${thing.flesh.state.detail} coordinates`;
      } else {
        computing.table.set([milliseconds(times.pose), milliseconds(times.draw), String(rate)]);
      }
    },
  };
}
