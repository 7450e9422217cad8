// Writes the reference of the configuration files into config/, beside the files that it describes.
import { writeFile } from 'node:fs/promises';
import { configurationReference } from './reference.ts';

await writeFile(new URL('../config/REFERENCE.md', import.meta.url), configurationReference());
