import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import type { RepositoryFile } from './repositoryFiles.ts'

/** Platforms of pipelines. */
export const PIPELINES = ['github', 'gitlab', 'none'] as const
export type Pipeline = (typeof PIPELINES)[number]

const PLACES = { github: '.github/workflows/monitoring.yml', gitlab: '.gitlab-ci.yml' }

/** The files of a pipeline: the recipe of `examples/ci`, the script for comments, and package.json. */
export function pipelineFiles(pipeline: Pipeline): readonly RepositoryFile[] {
  if (pipeline === 'none') return []
  const devDependencies = { pharos: packageJson.version }
  return [
    { path: PLACES[pipeline], text: withoutSampleSecrets(recipe(`${pipeline}.yml`)) },
    { path: 'ci/comment.mjs', text: recipe('comment.mjs') },
    {
      path: 'package.json',
      text: `${JSON.stringify({ private: true, type: 'module', devDependencies }, null, 2)}\n`,
    },
  ]
}

/** The command that installs pharos where no registry has it: from a file made of this package. */
export function installation(): string {
  const folder = fileURLToPath(new URL(isSource() ? '../..' : '..', import.meta.url)).replace(/[/\\]$/, '')
  return `npm install --save-dev "./$(npm pack --ignore-scripts --silent "${folder}")"`
}

/** A file of `examples/ci`; the build copies it beside the bundle. */
function recipe(name: string): string {
  return readFileSync(
    new URL(isSource() ? `../../examples/ci/${name}` : `ci/${name}`, import.meta.url),
    'utf8',
  )
}

function isSource(): boolean {
  return import.meta.url.endsWith('.ts')
}

/** `text` without the secrets of the example's manifests; the comment above them explains which to add. */
function withoutSampleSecrets(text: string): string {
  return text.replaceAll(/^ *SHOP_\w+: .*\n/gm, '')
}
