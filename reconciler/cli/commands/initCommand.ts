import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { visible } from '../../../api/contract/visibleText.ts'
import { makeFolder } from '../../../api/runtime/makeFolder.ts'
import { installation, PIPELINES, type Pipeline, pipelineFiles } from '../../init/pipelineFiles.ts'
import { repositoryFiles } from '../../init/repositoryFiles.ts'
import { codeOf } from '../../../api/runtime/errorCode.ts'
import { shellQuoted } from '../../git/shellQuoted.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { UnwritableFile } from '../../run/fileFailure.ts'
import type { Command } from '../session/commandEntry.ts'

/** Default of --target. */
const TARGET = 'https://example.com/'

/** Creates the files of a repository in a folder. Existing files are kept. */
export const initCommand: Command = async ([folder = ''], { output, options }) => {
  const pipeline = pipelineOf(options.ci)
  const target = targetOf(options.target)
  const made: string[] = []
  const kept: string[] = []
  for (const { path, text } of [...repositoryFiles(target), ...pipelineFiles(pipeline)]) {
    const isNew = writeNew(join(folder, path), text)
    ;(isNew ? made : kept).push(path)
    output.result(`${isNew ? 'made' : 'kept'}  ${visible(join(folder, path))}`)
  }
  if (made.length > 0) output.result(`\n${nextSteps(folder, pipeline)}`)
  return { exitCode: EXIT.converged, document: { folder, made, kept } }
}

function pipelineOf(ci: string | undefined): Pipeline {
  const pipeline = PIPELINES.find((name) => name === (ci ?? 'none'))
  if (pipeline === undefined) throw new UsageError(`--ci must be one of ${PIPELINES.join(', ')}: it is ${ci}`)
  return pipeline
}

function targetOf(target = TARGET): string {
  if (/^https?:\/\/[^/]/i.test(target) && URL.canParse(target)) return target
  throw new UsageError(`--target must be an address such as ${TARGET}, not ${target}`)
}

/** Creates `file` unless it exists; returns whether it did. Throws UnwritableFile. */
function writeNew(file: string, text: string): boolean {
  try {
    makeFolder(dirname(file))
    // The flag makes the check and the creation one step.
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if (
      error instanceof Error &&
      'syscall' in error &&
      error.syscall === 'open' &&
      codeOf(error) === 'EEXIST'
    )
      return false
    throw new UnwritableFile(file, error)
  }
}

function nextSteps(folder: string, pipeline: Pipeline): string {
  // Otherwise cd would take the name for an option.
  const path = folder.startsWith('-') ? `./${folder}` : folder
  const enter = folder === '.' ? '' : `  cd ${/^[\w./-]+$/.test(path) ? path : visible(shellQuoted(path))}\n`
  const install = pipeline === 'none' ? '' : `  ${installation()}\n`
  const hint =
    pipeline === 'none'
      ? ''
      : '\nCommit the packed file and package-lock.json. If your registry has pharos, "npm install" alone is enough.'
  return `Next:
${enter}${install}  pharos validate monitoring
  pharos test monitoring
  pharos plan monitoring --state pharos.db
  pharos apply monitoring --state pharos.db
"test" runs the checks once from this machine; "plan" and "apply" need PHAROS_URL and PHAROS_API_KEY.${hint}`
}
