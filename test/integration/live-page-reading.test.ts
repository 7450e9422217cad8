// The live page for those who read it: by keyboard, by ear, on a phone, in the dark, among many services.
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceDocument } from '../../gateway/admin/upstreams-document.ts';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type LivePageScene, openLivePage } from '../support/live-page-scene.ts';
import { endpointOf, serviceOf } from '../support/page-document.ts';
import { waitFor } from '../support/wait-for.ts';
import { weakContrasts } from '../support/weak-contrasts.ts';

const SINCE = new Date(Date.now() - 60_000).toISOString();
const LONG_NAME = 'a-service-whose-name-is-longer-than-any-screen-of-a-phone-could-be-wide';

/** Every state that there is. */
const EVERYTHING: readonly ServiceDocument[] = [
  serviceOf(LONG_NAME, {
    breaker: 'open',
    breakerUntil: SINCE,
    degradedSince: SINCE,
    degradedReason: 'breaker',
    lastError: `http://${LONG_NAME}.example/${LONG_NAME}: connect ECONNREFUSED`,
    endpoints: [
      endpointOf('10.0.0.1:80', { failures: 12_345, ejections: 17, requests: 9_876_543, tags: [LONG_NAME] }),
      endpointOf('10.0.0.2:80', { state: 'ejected', why: LONG_NAME, until: SINCE }),
      endpointOf('10.0.0.3:80', { state: 'draining' }),
      endpointOf('10.0.0.4:80', { state: 'warming', until: SINCE }),
      endpointOf('10.0.0.5:80', { state: 'probing' }),
      endpointOf('10.0.0.6:80', { state: 'unhealthy', status: 'critical' }),
      endpointOf('[fd00:1234:5678:9abc:def0:1234:5678:9abc]:65535', { meta: { [LONG_NAME]: LONG_NAME } }),
    ],
  }),
  serviceOf('half', { breaker: 'half_open', skippedRecords: 3 }),
  serviceOf('kept', { state: 'stale', ageSeconds: 90 }),
  serviceOf('none', { state: 'empty', endpoints: [] }),
  serviceOf('parked', { maintenance: { since: SINCE, reason: LONG_NAME } }),
];

describe.skipIf(!hasChromium())('a reader of the live page', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const shownServices = async (scene: LivePageScene) => {
    const names = await scene.page.locator('tbody.service:visible .name').allTextContents();
    return names.map((name) => name.trim());
  };

  it.each<[string, BrowserContextOptions]>([
    ['wide and light', { colorScheme: 'light' }],
    ['wide and dark', { colorScheme: 'dark' }],
    ['a phone, light', { colorScheme: 'light', viewport: { width: 375, height: 800 }, isMobile: true, hasTouch: true }],
    ['a phone, dark', { colorScheme: 'dark', viewport: { width: 375, height: 800 }, isMobile: true, hasTouch: true }],
    ['a tablet', { viewport: { width: 800, height: 1000 } }],
    ['zoomed fourfold', { viewport: { width: 320, height: 256 } }],
  ])('never scrolls sideways and has a contrast of 4.5 at least: %s', async (_name, context) => {
    await using scene = await openLivePage({ browser, services: EVERYTHING, context });
    await scene.open(LONG_NAME);
    const widths = () => scene.page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    expect(await widths()).toEqual([context.viewport?.width ?? 1280, context.viewport?.width ?? 1280]);
    expect(await weakContrasts(scene.page)).toEqual([]);

    await scene.page.getByRole('button', { name: 'Drain 10.0.0.1:80' }).click();
    expect(await weakContrasts(scene.page)).toEqual([]);
    const box = await scene.page.getByRole('dialog').boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 9999)).toBeLessThanOrEqual(context.viewport?.width ?? 1280);
    await scene.page.keyboard.press('Escape');

    scene.admin.setGone(true);
    await scene.page.clock.runFor(1000);
    await scene.page.locator('#alarm').waitFor();
    expect(await weakContrasts(scene.page)).toEqual([]);
    expect(await widths()).toEqual([context.viewport?.width ?? 1280, context.viewport?.width ?? 1280]);
  });

  it('finds tables with captions and heads, also where rows are cards', async () => {
    const context = { viewport: { width: 375, height: 800 } };
    await using scene = await openLivePage({ browser, services: EVERYTHING, context });
    await scene.open(LONG_NAME);
    for (const name of ['All services', 'Workers', `Endpoints of ${LONG_NAME} (7)`]) {
      expect(await scene.page.getByRole('table', { name }).count(), name).toBe(1);
    }
    const endpoints = scene.page.getByRole('table', { name: 'Endpoints of' });
    expect(await endpoints.getByRole('columnheader').allTextContents()).toContain('In flight');
    expect(await endpoints.getByRole('rowheader').count()).toBe(7);
    expect(await endpoints.getByRole('row').count()).toBe(8);
    const texts = await scene.page.locator('button:not([aria-label]):visible').allTextContents();
    expect(texts.filter((text) => text.trim() === '')).toEqual([]);
  });

  it('uses it by keyboard alone, and keeps the focus over updates', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('api'), serviceOf('web')] });
    const focused = scene.page.locator(':focus');
    await scene.page.locator('#filter').focus();
    for (const _press of ['only-trouble', 'api', 'web']) await scene.page.keyboard.press('Tab');
    await scene.page.keyboard.press('Enter');
    await scene.page.keyboard.press('Tab');
    await scene.page.keyboard.press('Tab');
    expect(await focused.getAttribute('aria-label')).toBe('Eject 10.0.0.5:8080');

    await scene.look({ services: [serviceOf('aaa'), serviceOf('api'), serviceOf('web')] });
    expect(await focused.getAttribute('aria-label')).toBe('Eject 10.0.0.5:8080');
    const out = serviceOf('web', { endpoints: [endpointOf('10.0.0.5:8080', { state: 'ejected' })] });
    await scene.look({ services: [out] });
    expect(await focused.getAttribute('aria-label')).toBe('Restore 10.0.0.5:8080');
    await scene.look({ services: [serviceOf('web', { endpoints: [] })] });
    expect(await focused.textContent()).toBe('web');
    await scene.look({ services: [] });
    expect(await focused.getAttribute('id')).toBe('filter');
  });

  it('hears of changes, once and shortly', async () => {
    const endpoints = Array.from({ length: 8 }, (_each, at) => endpointOf(`10.0.0.${at}:80`));
    await using scene = await openLivePage({ browser, services: [serviceOf('web', { endpoints })] });
    const announcer = scene.page.locator('[aria-live="polite"]');
    await scene.look({ services: [serviceOf('web', { endpoints })] });
    expect(await announcer.textContent()).toBe('');

    const why = 'ejected by an operator';
    const [first = endpointOf(''), ...others] = endpoints;
    const oneOut = [endpointOf(first.endpoint, { state: 'ejected', why }), ...others];
    await scene.look({ services: [serviceOf('web', { endpoints: oneOut })] });
    expect(await announcer.textContent()).toBe(`web: 10.0.0.0:80: active → ejected (${why}).`);
    const allOut = endpoints.map(({ endpoint }) => endpointOf(endpoint, { state: 'unhealthy' }));
    await scene.look({ services: [serviceOf('web', { endpoints: allOut, state: 'empty' })] });
    expect(await announcer.textContent()).toBe('web: healthy → empty. web: 8 endpoints changed their state.');
  });

  it('filters by service, address, instance and tag, and finds the same after a reload', async () => {
    const tagged = serviceOf('billing', {
      endpoints: [endpointOf('10.9.9.9:80', { tags: ['Canary'] }), endpointOf('a:1')],
    });
    const services = [tagged, serviceOf('orders'), serviceOf('search', { state: 'stale' })];
    await using scene = await openLivePage({ browser, services });
    const filter = scene.page.getByRole('searchbox', { name: 'Filter' });
    const found = async (words: string) => {
      await filter.fill(words);
      return shownServices(scene);
    };
    expect(await found('OR')).toEqual(['orders']);
    expect(await found('10.9.9')).toEqual(['billing']);
    expect(await found('instance-of-a:1')).toEqual(['billing']);
    expect(await found('nothing')).toEqual([]);
    expect(await scene.page.getByText('No service matches.').isVisible()).toBe(true);
    expect(await found('canary')).toEqual(['billing']);
    await scene.open('billing');
    expect(await scene.page.getByRole('table', { name: 'Endpoints of billing (1 of 2)' }).count()).toBe(1);

    await scene.page.reload();
    await scene.page.locator('.endpoints').waitFor();
    expect(await filter.inputValue()).toBe('canary');
    expect(await shownServices(scene)).toEqual(['billing']);
    await filter.fill('');
    await scene.page.getByRole('checkbox', { name: 'only what needs attention' }).check();
    expect(await shownServices(scene)).toEqual(['search']);
  });

  it('stops asking while it is paused or not seen', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    await scene.page.getByRole('button', { name: 'Pause' }).click();
    const before = scene.admin.looks;
    await scene.page.clock.runFor(60_000);
    expect(await scene.page.locator('#link').textContent()).toBe('paused, 60 s old');
    expect(scene.admin.looks).toBe(before);
    await scene.page.getByRole('button', { name: 'Pause' }).click();
    await scene.page.getByText('live').waitFor();

    await scene.page.evaluate(visibility(false));
    const hidden = scene.admin.looks;
    await scene.page.clock.runFor(60_000);
    expect(scene.admin.looks).toBe(hidden);
    await scene.page.evaluate(visibility(true));
    await scene.page.getByText('live').waitFor();
    expect(scene.admin.looks).toBe(hidden + 1);
  });

  it('is asked for the token, which goes into a header and nowhere else', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    scene.admin.lock('s3cret');
    await scene.page.reload();
    const input = scene.page.getByLabel('Token', { exact: true });
    await input.waitFor();
    expect(await scene.page.locator('#main').isVisible()).toBe(false);
    await input.fill('wrong');
    await scene.page.keyboard.press('Enter');
    await scene.page.getByText('The gateway refused this token.').waitFor();
    const looks = scene.admin.refusals;
    await scene.page.clock.runFor(10_000);
    expect(scene.admin.refusals).toBe(looks);
    await input.fill('s3cret');
    await scene.page.keyboard.press('Enter');
    await scene.page.locator('#main').waitFor();
    expect(scene.page.url()).not.toContain('s3cret');
    expect(await scene.page.content()).not.toContain('s3cret');

    await scene.page.reload();
    await scene.page.locator('#main').waitFor();
    await scene.page.getByRole('button', { name: 'Forget the token' }).click();
    await input.waitFor();
    expect(await scene.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).toBe(
      '[{},{}]',
    );
  });

  it('loads nothing from elsewhere, and nothing that is written into the page runs', async () => {
    await using scene = await openLivePage({ browser, services: [serviceOf('web')] });
    expect([...scene.origins]).toEqual([new URL(scene.admin.url).origin]);
    expect(scene.complaints).toEqual([]);
    const inserts = [
      "const made = document.createElement('style'); made.append('body { color: red }'); document.body.append(made)",
      "const made = document.createElement('script'); made.append('alert(1)'); document.body.append(made)",
      "const made = document.createElement('iframe'); made.src = 'http://127.0.0.1:9/'; document.body.append(made)",
      "document.body.innerHTML = '<b>text</b>'",
      "fetch('http://127.0.0.1:9/')",
    ];
    for (const insert of inserts) {
      const before = scene.complaints.length;
      await scene.page.evaluate(`{ ${insert} }`).catch(() => undefined);
      const isRefused = () => /Content Security Policy|Trusted/.test(scene.complaints.slice(before).join());
      await waitFor(isRefused, { limitMs: 5000, what: `the refusal of ${insert}` });
    }
  });

  it('has a hundred services of a hundred endpoints, of which only the open ones are drawn', async () => {
    const services = Array.from({ length: 100 }, (_each, at) => {
      const endpoints = Array.from({ length: 100 }, (_other, port) => endpointOf(`10.0.${at}.1:${1000 + port}`));
      return serviceOf(`service-${at}`, { endpoints });
    });
    await using scene = await openLivePage({ browser, services });
    expect((await shownServices(scene)).slice(0, 3)).toEqual(['service-0', 'service-1', 'service-2']);
    expect(await scene.page.locator('.endpoints').count()).toBe(0);
    await scene.open('service-99');
    expect(await scene.page.locator('.endpoints tbody tr').count()).toBe(100);
    await scene.look({ services });
    await scene.page.getByRole('searchbox').fill('10.0.42.1:1007');
    expect(await shownServices(scene)).toEqual(['service-42']);
  });
});

/** A script that lets the page be seen, or not. */
function visibility(isSeen: boolean): string {
  return `Object.defineProperty(document, 'hidden', { value: ${!isSeen}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`;
}
