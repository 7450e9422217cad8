// The live page of a running gateway in a real browser, as the one on call uses it.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startBrowser, type TestBrowser, type TestPage } from '../support/browser.ts';
import { type Load, startLoad } from '../support/load.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const LIMIT_MS = 20_000;

describe.skipIf(!hasChromium())('the live page of a gateway', () => {
  const owned = new AsyncDisposableStack();
  let browser: TestBrowser;
  let instances: SampleInstance[];
  let weir: WeirProcess;
  let load: Load;
  let opened: TestPage;
  let page: Page;

  beforeAll(async () => {
    browser = owned.adopt(await startBrowser(), (each) => each.close());
    instances = await startInstances('one', 'two', 'three');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    const endpoints = instances.map(({ port }) => ({
      address: `127.0.0.1:${port}`,
      tags: [HOSTILE],
      meta: { note: HOSTILE },
    }));
    const respond = { status: 503, contentType: 'text/plain', body: 'later' };
    weir = owned.adopt(
      await startWeir({
        routes: {
          web: {
            service: 'web',
            endpoints,
            match: [{ paths: ['/*'] }],
            ejection: { base: '120s' },
            fallback: { chain: [{ respond }] },
          },
          other: { service: 'other', endpoints: ['127.0.0.1:1'], match: [{ paths: ['/other/*'] }] },
        },
      }),
      (gateway) => gateway.close(),
    );
    load = owned.adopt(startLoad({ url: `${weir.url}/item`, kept: 2, pauseMs: 20 }), (each) => each.stop());
    opened = await browser.open();
    page = opened.page;
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(`${weir.adminUrl}/debug/upstreams`);
    await toggle('web').click();
  });
  afterAll(() => owned.disposeAsync());

  const toggle = (service: string): Locator => page.locator('.toggle').getByText(service, { exact: true });
  const address = (at: number): string => `127.0.0.1:${instances[at]?.port}`;
  const row = (at: number): Locator =>
    page
      .getByRole('row')
      .filter({ hasText: address(at) })
      .last();
  const badge = (at: number, state: string): Promise<void> => row(at).locator('.badge', { hasText: state }).waitFor();
  const order = async (verb: string, at: number): Promise<void> => {
    await page.getByRole('button', { name: `${verb} ${address(at)}`, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  /** Waits until the gateway has answered that many more requests. */
  const more = (count: number): Promise<unknown> => {
    const before = load.sent;
    return waitFor(() => load.sent >= before + count, { limitMs: LIMIT_MS, what: `${count} more requests` });
  };
  const requestsOf = async (at: number): Promise<number> => (await instances[at]?.requests()) ?? 0;

  it('shows its services, endpoints, workers and traffic', async () => {
    await page.getByRole('table', { name: 'Endpoints of web (3)' }).waitFor();
    expect(await page.locator('tbody.service .name').allTextContents()).toEqual(['other', 'web']);
    for (const at of [0, 1, 2]) {
      await badge(at, 'active');
      await row(at).locator('[data-label="Share"]', { hasText: /3\d %/ }).waitFor();
    }
    expect(await page.getByRole('table', { name: 'Workers' }).getByRole('rowheader').allTextContents()).toEqual([
      'worker 1',
      'worker 2',
    ]);
    expect(await page.locator('#leader').textContent()).toMatch(/^worker [12] leads, term 1$/);
    expect(await page.locator('.endpoint .about').first().textContent()).toContain(HOSTILE);
  });

  it('lets an endpoint drain after a yes: its traffic stops, and comes back when it is undrained', async () => {
    await order('Drain', 0);
    await badge(0, 'draining');
    const before = await requestsOf(0);
    await more(60);
    expect(await requestsOf(0)).toBe(before);
    expect(await page.locator('#problems').textContent()).toContain('1 endpoint draining by an operator');

    await order('Undrain', 0);
    await badge(0, 'active');
    await waitFor(async () => (await requestsOf(0)) > before, { limitMs: LIMIT_MS, what: 'its traffic' });
  });

  it('ejects an endpoint by the word of an operator, and restores it', async () => {
    await order('Eject', 1);
    await row(1).getByText('ejected by an operator').waitFor();
    const before = await requestsOf(1);
    await more(60);
    expect(await requestsOf(1)).toBe(before);
    await order('Restore', 1);
    await badge(1, 'active');
  });

  it('shows an endpoint that died as ejected, with the reason and the end, and restores it on demand', async () => {
    await instances[2]?.kill();
    await badge(2, 'ejected');
    expect(await row(2).locator('.standing').textContent()).toMatch(
      /ejected: \d+ failures in a row, the last: connection \w+ until [\d :-]+ \(.* left\)/,
    );
    await page.locator('#problems', { hasText: `1 of 3 endpoints set aside: ${address(2)}` }).waitFor();
    expect(await page.locator('#changes').textContent()).toContain(`${address(2)}: active → ejected`);
    expect(await page.title()).toMatch(/^\(\d\) Weir$/);

    await instances[2]?.start();
    await order('Restore', 2);
    await badge(2, 'active');
    await waitFor(async () => (await requestsOf(2)) > 0, { limitMs: LIMIT_MS, what: 'its traffic' });
  });

  it('puts a service into maintenance with a reason, and takes it back', async () => {
    await page.getByRole('button', { name: 'Begin maintenance of web' }).click();
    await page.getByLabel('Reason').fill(`rebuild ${HOSTILE}`);
    await page.keyboard.press('Enter');
    await page.locator('tbody.service .badge', { hasText: 'maintenance' }).waitFor();
    await page.locator('#problems', { hasText: `rebuild ${HOSTILE}` }).waitFor();
    expect(await weir.get('/item')).toMatchObject({ status: 503, body: 'later' });

    await page.getByRole('button', { name: 'End maintenance of web' }).click();
    await page.getByRole('button', { name: 'End maintenance', exact: true }).click();
    await page.locator('tbody.service .badge', { hasText: 'maintenance' }).waitFor({ state: 'detached' });
    expect((await weir.get('/item')).status).toBe(200);
  });

  it('complains of nothing, asks nobody else and fits a phone in the dark', async () => {
    expect(opened.complaints).toEqual([]);
    expect([...opened.origins]).toEqual([weir.adminUrl]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 17, 21)');
  });

  it('cannot be used by the page of another site: neither framed nor ordered', async () => {
    const target = `${weir.adminUrl}/debug/upstreams/web/${encodeURIComponent(address(0))}/eject`;
    const evil = `<iframe src="${weir.adminUrl}/debug/upstreams"></iframe>
      <iframe name="sink"></iframe><form target="sink" method="post" enctype="text/plain" action="${target}"></form>
      <script>
        document.forms[0].submit();
        const order = (headers) => fetch('${target}', { method: 'POST', mode: 'no-cors', body: '{}', headers });
        Promise.allSettled([order({}), order({ 'Content-Type': 'application/json' })]).then(() => document.title = 'tried');
      </script>`;
    const site: LocalServer = owned.adopt(
      await startHttpServer((_request, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(evil)),
      (server) => server.stop(),
    );
    for (const host of ['localhost', '127.0.0.1']) {
      const visit = await browser.open();
      await visit.page.goto(`http://${host}:${site.port}/`);
      await waitFor(async () => (await visit.page.title()) === 'tried', { limitMs: LIMIT_MS, what: 'the attack' });
      const isFrameRefused = () => visit.page.frames().some((frame) => frame.url().startsWith('chrome-error:'));
      await waitFor(isFrameRefused, { limitMs: LIMIT_MS, what: 'the refusal of the frame' });
      await visit.page.context().close();
    }
    const { endpoints } = await weir.service('web');
    expect(endpoints.map(({ state }) => state)).toEqual(['active', 'active', 'active']);
  });

  it('says at once that the gateway is gone, and goes on by itself when it is back', async () => {
    await load.stop();
    await weir.stop();
    await page.getByText('The gateway does not answer: it cannot be reached.').waitFor();
    await weir.start();
    await page.locator('#link', { hasText: 'live' }).waitFor();
    await page.locator('#changes', { hasText: 'the gateway was started anew' }).waitFor();
  });

  it('asks for the token where the admin address has one', async () => {
    const locked = owned.adopt(await startWeir({ routes: {}, adminToken: 'only-for-tests-4711' }), (gateway) =>
      gateway.close(),
    );
    const { page: visitor } = await browser.open();
    await visitor.goto(`${locked.adminUrl}/debug/upstreams`);
    await visitor.getByLabel('Token', { exact: true }).fill('only-for-tests-4711');
    await visitor.keyboard.press('Enter');
    await visitor.getByText('No route names a service.').waitFor();
    expect(visitor.url()).toBe(`${locked.adminUrl}/debug/upstreams`);
  });
});
