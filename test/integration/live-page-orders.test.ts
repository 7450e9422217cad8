// The buttons of the live page: they ask before they act, say what would happen, and act only for this page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type LivePageScene, openLivePage } from '../support/live-page-scene.ts';
import { endpointOf, serviceOf } from '../support/page-document.ts';
import { waitFor } from '../support/wait-for.ts';

const ADDRESS = '10.0.0.1:80';

describe.skipIf(!hasChromium())('an order from the live page', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const press = (scene: LivePageScene, name: string) => scene.page.getByRole('button', { name, exact: true }).click();
  const dialogOf = (scene: LivePageScene) => scene.page.getByRole('dialog');
  const orders = (scene: LivePageScene) => scene.admin.orders;
  const orderedBy = (scene: LivePageScene) =>
    waitFor(() => orders(scene)[0] ?? false, { limitMs: 5000, what: 'an order' });

  it('is given only after a yes, and Cancel and Escape are a no', async () => {
    const pair = serviceOf('web', { endpoints: [endpointOf(ADDRESS, { inFlight: 3 }), endpointOf('10.0.0.2:80')] });
    await using scene = await openLivePage({ browser, services: [pair] });
    await scene.open('web');
    for (const isEscape of [true, false]) {
      await press(scene, `Drain ${ADDRESS}`);
      expect(await dialogOf(scene).isVisible()).toBe(true);
      const focused = scene.page.locator(':focus');
      expect(await focused.textContent()).toBe('Cancel');
      await scene.page.keyboard.press(isEscape ? 'Escape' : 'Enter');
      expect(await dialogOf(scene).isVisible()).toBe(false);
      expect(await focused.getAttribute('aria-label')).toBe(`Drain ${ADDRESS}`);
    }
    expect(orders(scene)).toEqual([]);

    await press(scene, `Drain ${ADDRESS}`);
    const text = await dialogOf(scene).textContent();
    expect(text).toContain(`Drain ${ADDRESS} of web?`);
    expect(text).toContain('It is active, with 3 requests in flight.');
    expect(text).toContain('Of the other endpoints 1 of 1 are in use.');
    expect(await scene.page.locator('#confirm-warning').isVisible()).toBe(false);
    await press(scene, 'Drain');
    expect(await orderedBy(scene)).toEqual({
      path: `/debug/upstreams/web/${encodeURIComponent(ADDRESS)}/drain`,
      body: '{}',
      contentType: 'application/json',
      site: 'same-origin',
      authorization: undefined,
    });
    await dialogOf(scene).waitFor({ state: 'hidden' });
    expect(orders(scene)).toHaveLength(1);
  });

  it('is offered where it makes sense: by the state, and by whose word it is', async () => {
    const later = new Date(Date.now() + 9000).toISOString();
    const offers = [
      ['active', null, ['Drain', 'Eject']],
      ['warming', later, ['Drain', 'Eject']],
      ['draining', null, ['Undrain', 'Eject']],
      ['ejected', later, ['Eject', 'Restore']],
      ['ejected', null, ['Restore']],
      ['probing', null, ['Eject', 'Restore']],
      ['unhealthy', null, ['Eject', 'Restore']],
    ] as const;
    const endpoints = offers.map(([state, until], at) => endpointOf(`10.0.0.${at}:80`, { state, until }));
    await using scene = await openLivePage({ browser, services: [serviceOf('web', { endpoints })] });
    await scene.open('web');
    for (const [at, [state, until, verbs]] of offers.entries()) {
      const buttons = scene.endpoint(`10.0.0.${at}:80`).getByRole('button');
      expect(await buttons.allTextContents(), `${state} until ${until}`).toEqual(verbs);
    }
  });

  it('warns before the last endpoint in use is taken out, and of one that is gone meanwhile', async () => {
    const services = [serviceOf('web', { endpoints: [endpointOf(ADDRESS), endpointOf('b:1', { state: 'ejected' })] })];
    await using scene = await openLivePage({ browser, services });
    await scene.open('web');
    await press(scene, `Eject ${ADDRESS}`);
    const warning = scene.page.locator('#confirm-warning');
    expect(await warning.textContent()).toContain('It is the last endpoint of web in use.');

    await scene.look({ services: [serviceOf('web', { endpoints: [endpointOf('b:1')] })] });
    expect(await warning.textContent()).toBe('It is gone from the pool.');
    expect(await scene.page.locator('#confirm-go').isDisabled()).toBe(true);
    await scene.page.keyboard.press('Escape');
    expect(orders(scene)).toEqual([]);
  });

  it('names services and endpoints of any spelling by their octets', async () => {
    const name = 'a/b ?#%2f"ü';
    const services = [serviceOf(name, { endpoints: [endpointOf('[fd00::1]:80')] })];
    await using scene = await openLivePage({ browser, services });
    await scene.open(name);
    await press(scene, 'Eject [fd00::1]:80');
    await press(scene, 'Eject');
    const { path } = await orderedBy(scene);
    expect(path.split('/').map(decodeURIComponent)).toEqual(['', 'debug', 'upstreams', name, '[fd00::1]:80', 'eject']);
  });

  it('says in the dialog why the gateway refused it', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    await scene.open('web');
    scene.admin.refuse('not at this hour');
    await press(scene, 'Eject 10.0.0.5:8080');
    await press(scene, 'Eject');
    await scene.page.getByText('It was not done: not at this hour').waitFor();
    expect(await scene.page.locator('#confirm-go').isEnabled()).toBe(true);
    expect(await scene.page.locator('#changes li').count()).toBe(0);
  });

  it('begins maintenance with a reason and ends it', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    await scene.open('web');
    await press(scene, 'Begin maintenance of web');
    await scene.page.keyboard.type('index rebuild');
    await scene.page.keyboard.press('Enter');
    expect(await orderedBy(scene)).toMatchObject({
      path: '/debug/services/web/degraded',
      body: '{"on":true,"reason":"index rebuild"}',
    });
    const maintenance = { since: new Date().toISOString(), reason: 'index rebuild' };
    await scene.look({ services: [serviceOf('web', { maintenance })] });
    expect(await scene.service('web').locator('.badges').textContent()).toContain('maintenance');

    await press(scene, 'End maintenance of web');
    await press(scene, 'End maintenance');
    const last = () => orders(scene).length === 2 && orders(scene)[1];
    expect(await waitFor(last, { limitMs: 5000, what: 'the second order' })).toMatchObject({ body: '{"on":false}' });
  });

  it('is not possible while the gateway does not answer, which is said at once and taken back', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    await scene.open('web');
    scene.admin.setGone(true);
    await scene.page.clock.runFor(1000);
    await scene.page.getByRole('alert').getByText('The gateway does not answer: it cannot be reached.').waitFor();
    await scene.page.clock.runFor(3000);
    await scene.page.getByText('no answer, 4 s old').waitFor();
    expect(await scene.page.title()).toBe('No answer – Weir');
    await press(scene, 'Drain 10.0.0.5:8080');
    expect(await scene.page.locator('#confirm-go').isDisabled()).toBe(true);
    expect(await scene.page.locator('#confirm-warning').textContent()).toContain('The gateway does not answer');
    await scene.page.keyboard.press('Escape');

    scene.admin.setGone(false);
    await scene.page.clock.runFor(5000);
    await scene.page.getByText('live').waitFor();
    expect(await scene.page.locator('#alarm').isVisible()).toBe(false);
  });
});
