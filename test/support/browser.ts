// A real headless Chromium for tests: pages of its own, and what they complain about.
import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export interface TestBrowser {
  /** Opens an empty page with storage of its own. */
  open(options?: BrowserContextOptions): Promise<TestPage>;
  close(): Promise<void>;
}

export interface TestPage {
  readonly page: Page;
  /** Errors of the console (refusals by the Content-Security-Policy are such) and exceptions that nobody caught. */
  readonly complaints: readonly string[];
  /** The origins that it asked for anything. */
  readonly origins: ReadonlySet<string>;
}

const EXECUTABLES = ['chromium', 'chromium-browser', 'google-chrome'];

/** It runs as root in containers, and talks to nobody but the page's own server. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Whether the machine has Chromium. Without it the tests that need it are skipped with a line that says so; on CI
 * (`CI=true`) that is an error instead, so that they never go missing there.
 */
export function hasChromium(): boolean {
  if (findChromium() !== undefined) return true;
  if (process.env.CI === 'true') throw new Error('chromium is missing: run scripts/install-chromium.sh');
  console.warn('SKIPPED: chromium is missing; scripts/install-chromium.sh installs it');
  return false;
}

/** Starts a browser with an empty profile; it ends with this process, whatever ends that. */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('chromium is missing');
  const browser = await chromium.launch({ executablePath, headless: true, args: ARGUMENTS });
  return { open: (options) => openPage(browser, options), close: () => browser.close() };
}

async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<TestPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  return { page, complaints, origins };
}

function findChromium(): string | undefined {
  const { stdout } = spawnSync('sh', ['-c', `for name in ${EXECUTABLES.join(' ')}; do command -v $name; done`]);
  return String(stdout)
    .split('\n')
    .find((path) => path !== '');
}
