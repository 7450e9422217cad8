// The live page in a real browser before a scripted gateway; its time goes on only when the test says so.
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { TestBrowser } from './browser.ts';
import { type DocumentOptions, documentOf } from './page-document.ts';
import { type ScriptedAdmin, startScriptedAdmin } from './scripted-admin.ts';

export interface LivePageScene extends AsyncDisposable {
  readonly page: Page;
  readonly admin: ScriptedAdmin;
  readonly complaints: readonly string[];
  readonly origins: ReadonlySet<string>;
  /** Lets a second pass and the page see this. */
  look(options: DocumentOptions): Promise<void>;
  /** The row of a service, by its name. */
  service(name: string): Locator;
  /** Opens a service. */
  open(name: string): Promise<void>;
  /** The row of an endpoint of an open service. */
  endpoint(address: string): Locator;
  /** The cell of a row below this column, on a screen that has columns. */
  cell(row: Locator, column: string): Locator;
}

export interface SceneOptions extends DocumentOptions {
  readonly browser: TestBrowser;
  readonly context?: BrowserContextOptions;
  /** Of the address, with its `#`. */
  readonly fragment?: string;
}

/** The page after its first look. */
export async function openLivePage(options: SceneOptions): Promise<LivePageScene> {
  const admin = await startScriptedAdmin(documentOf(options));
  const { page, complaints, origins } = await options.browser.open(options.context);
  const nowMs = Date.now();
  await page.clock.install({ time: nowMs - 1000 });
  await page.clock.pauseAt(nowMs);
  await page.goto(`${admin.url}${options.fragment ?? ''}`);
  await page.locator('#main').waitFor();
  let looks = 0;
  return {
    page,
    admin,
    complaints,
    origins,
    async look(next) {
      const version = `0.1.0-look-${++looks}`;
      admin.show(documentOf({ ...next, gateway: { ...next.gateway, version } }));
      await page.clock.runFor(1000);
      await page.getByText(`version ${version},`).waitFor();
    },
    service: (name) =>
      page
        .locator('tbody.service')
        .filter({ has: toggle(page, name) })
        .locator('tr.summary'),
    open: (name) => toggle(page, name).click(),
    endpoint: (address) =>
      page.locator('.endpoints tbody tr').filter({ has: page.getByText(address, { exact: true }) }),
    cell: (row, column) => row.locator(`[data-label="${column}"]`),
    async [Symbol.asyncDispose]() {
      await page.context().close();
      await admin.stop();
    },
  };
}

function toggle(page: Page, name: string): Locator {
  return page.getByRole('button', { name, exact: true }).and(page.locator('.toggle'));
}
