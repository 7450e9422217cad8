// The watch over real files: every way of saving is noticed, once the files stand still.
import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileWatch } from '../../gateway/file-watch.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 10_000;

/** A folder with files, and the watch over them. */
class Scene implements AsyncDisposable {
  readonly home: string;
  readonly watch: FileWatch;
  changes = 0;
  /** What a change leads to. */
  onChange: () => Promise<void> = async () => undefined;
  /** What happens just before the files are looked at. */
  onLook: () => void = () => undefined;

  private constructor(home: string) {
    this.home = home;
    this.watch = new FileWatch({
      files: () => {
        this.onLook();
        return [this.path('gateway.yaml'), this.path('sorry.html')];
      },
      routesFolder: () => this.path('routes'),
      onChange: () => {
        this.changes++;
        return this.onChange();
      },
    });
  }

  static async create(): Promise<Scene> {
    const scene = new Scene(await mkdtemp(join(tmpdir(), 'weir-watch-')));
    await mkdir(scene.path('routes'));
    for (const name of ['gateway.yaml', 'sorry.html', 'routes/a.yaml', 'routes/b.yaml'])
      await scene.write(name, 'first');
    await scene.watch.start();
    return scene;
  }

  path(name: string): string {
    return join(this.home, name);
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(this.path(name), text);
  }

  async changed(times: number): Promise<void> {
    await waitFor(() => this.changes >= times, { limitMs: LIMIT_MS, what: `change ${times} to be noticed` });
    expect(this.changes).toBe(times);
  }

  /** Waits until the watch has looked at the files again: a change that it must notice is the only one it does. */
  async noticesOnlyThis(): Promise<void> {
    const before = this.changes;
    await this.write(`routes/mark-${before}.yaml`, '');
    await this.changed(before + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch.stop();
    await rm(this.home, { recursive: true });
  }
}

describe.concurrent('the watch over the files', () => {
  it.each<[string, (scene: Scene) => Promise<void>]>([
    ['an edit in place', (scene) => scene.write('routes/a.yaml', 'second')],
    ['an edit of the same length', (scene) => scene.write('routes/a.yaml', 'FIRST')],
    ['an edit of gateway.yaml', (scene) => scene.write('gateway.yaml', 'second')],
    ['an edit of another file that is watched', (scene) => scene.write('sorry.html', 'second')],
    [
      'a file that is saved under another name and renamed',
      async (scene) => {
        await scene.write('routes/.a.yaml.tmp', 'FIRST');
        await rename(scene.path('routes/.a.yaml.tmp'), scene.path('routes/a.yaml'));
      },
    ],
    [
      'an edit whose time of writing was set back',
      async (scene) => {
        await utimes(scene.path('routes/a.yaml'), 1000, 1000);
        await scene.watch.markLoaded();
        await scene.write('routes/a.yaml', 'FIRST');
        await utimes(scene.path('routes/a.yaml'), 1000, 1000);
      },
    ],
    ['a new file', (scene) => scene.write('routes/c.yml', 'new')],
    ['a file that is removed', (scene) => rm(scene.path('routes/a.yaml'))],
    ['a file that is renamed', (scene) => rename(scene.path('routes/a.yaml'), scene.path('routes/c.yaml'))],
    ['a folder that is gone', (scene) => rm(scene.path('routes'), { recursive: true })],
  ])('notices %s', async (_what, change) => {
    await using scene = await Scene.create();
    await change(scene);
    await scene.changed(1);
  });

  it('notices a folder of links that is swapped at once, as a ConfigMap is', async () => {
    await using scene = await Scene.create();
    await rm(scene.path('routes'), { recursive: true });
    for (const version of ['..v1', '..v2']) {
      await mkdir(scene.path(`volume/${version}`), { recursive: true });
      await scene.write(`volume/${version}/a.yaml`, version);
    }
    await symlink('..v1', scene.path('volume/..data'));
    await symlink('..data/a.yaml', scene.path('volume/a.yaml'));
    await symlink('volume', scene.path('routes'));
    await scene.changed(1);

    await symlink('..v2', scene.path('volume/..next'));
    await rename(scene.path('volume/..next'), scene.path('volume/..data'));
    await scene.changed(2);
  });

  it('waits for a file that is written bit by bit to stand still', async () => {
    await using scene = await Scene.create();
    const seen: number[] = [];
    scene.onLook = () => {
      seen.push(scene.changes);
      if (seen.length <= 4) appendFileSync(scene.path('routes/a.yaml'), 'x');
    };
    await scene.changed(1);
    expect(seen.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    await scene.noticesOnlyThis();
  });

  it('does not look at hidden files and at what is no route file', async () => {
    await using scene = await Scene.create();
    await scene.write('routes/.a.yaml.swp', 'x');
    await scene.write('routes/README.md', 'x');
    await mkdir(scene.path('routes/deeper'));
    await scene.noticesOnlyThis();
  });

  it('notices what changes while an earlier change is dealt with, also when that marks its time', async () => {
    await using scene = await Scene.create();
    const [marked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    scene.onChange = async () => {
      await scene.watch.markLoaded();
      marked.resolve();
      await gate.promise;
    };
    await scene.write('routes/a.yaml', 'second');
    await marked.promise;
    await scene.write('routes/a.yaml', 'third');
    scene.onChange = async () => undefined;
    gate.resolve();
    await scene.changed(2);
  });

  it('does not tell what was there when it was marked as known', async () => {
    await using scene = await Scene.create();
    await scene.write('routes/a.yaml', 'second');
    await scene.watch.markLoaded();
    await scene.noticesOnlyThis();
  });
});
