import { IMPORT_FORMATS } from '../import/formats.ts'
import { CHECK_FORMATS, PLAN_FORMATS, PROBLEM_FORMATS } from '../text/format.ts'
import {
  ACTOR_OPTION,
  APPLY_OPTIONS,
  type CommandEntry,
  PATH_ARGUMENT,
  PLAN_OPTIONS,
} from './session/commandEntry.ts'
import type { CommandContext, CommandResult } from './session/context.ts'
import { STATE_COMMANDS } from './stateCommandTable.ts'

/** A command whose one argument is the path of the manifests. */
const onPath =
  (command: (path: string, context: CommandContext) => Promise<CommandResult>) =>
  ([path = '.']: readonly string[], context: CommandContext): Promise<CommandResult> =>
    command(path, context)

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    args: [['<folder>', 'folder of the repository; . for the current one']],
    summary: 'create a repository of manifests; existing files are kept',
    examples: ['pharos init shop', 'pharos init shop --ci github --target https://shop.example.com/'],
    groups: [],
    options: [
      ['--ci <platform>', 'add a pipeline for github or gitlab (default: none)'],
      ['--target <url>', 'address that the first service checks (default: https://example.com/)'],
    ],
    load: async () => (await import('./commands/initCommand.ts')).initCommand,
  },
  {
    name: 'validate',
    args: PATH_ARGUMENT,
    summary: 'check manifests, without network and without secrets',
    examples: [
      'pharos validate monitoring/',
      'pharos validate monitoring/ --json | jq .problems',
      'pharos validate monitoring/ --format github              # marks the lines of a pull request',
      'pharos validate monitoring/ --format sarif > pharos.sarif',
    ],
    groups: ['manifests'],
    formats: PROBLEM_FORMATS,
    load: async () => onPath((await import('./commands/validateCommand.ts')).validateCommand),
  },
  {
    name: 'lint',
    args: [['[path...]', 'folders of manifests, or files (default: .)']],
    isListed: false,
    summary: 'check manifests against the rules of .pharos-lint.yaml; exits 2 with findings',
    examples: ['pharos lint monitoring/', 'pharos lint monitoring/ --format github'],
    groups: ['manifests', 'selection'],
    formats: PROBLEM_FORMATS,
    options: [
      ['--config <file>', 'file of the rules (default: .pharos-lint.yaml in the folder or above it)'],
    ],
    load: async () => (await import('./commands/lintCommand.ts')).lintCommand,
  },
  {
    name: 'render',
    args: PATH_ARGUMENT,
    summary: 'print manifests with Defaults, patches and variables applied',
    examples: ['pharos render monitoring/ --env production'],
    groups: ['manifests'],
    load: async () => onPath((await import('./commands/renderCommand.ts')).renderCommand),
  },
  {
    name: 'test',
    args: [['[path...]', 'folders of manifests, or files (default: .)']],
    summary: 'run the checks of manifests once from this machine; needs no API key and no state',
    examples: [
      'pharos test monitoring/ --target checkout',
      'pharos test monitoring/ --format junit > pharos-checks.xml',
      'pharos test monitoring/ --allow-ranges 10.0.0.0/8        # the option of the server with the same name',
    ],
    groups: ['manifests', 'selection'],
    formats: CHECK_FORMATS,
    options: [
      ['--repeat <count>', 'number of times to run each check (default: 1)'],
      ['--timeout <duration>', 'maximum time for one check, if its manifest allows more'],
      ['--allow-ranges <ranges>', 'private address ranges (10.0.0.0/8,…) that may be checked'],
    ],
    load: async () => (await import('./commands/testCommand.ts')).testCommand,
  },
  {
    name: 'plan',
    args: PATH_ARGUMENT,
    summary: 'show what apply would do, field by field',
    examples: [
      'pharos plan monitoring/ --state pharos.db',
      'pharos plan monitoring/ --state pharos.db --detailed-exitcode   # exits 2 when there are changes',
      'pharos plan monitoring/ --state pharos.db --format markdown > comment.md',
    ],
    groups: [...PLAN_OPTIONS, 'limits'],
    formats: PLAN_FORMATS,
    options: [
      ['--detailed-exitcode', 'exit 2 when there are changes'],
      ['--without-secrets', 'treat secrets that are not available as unchanged, as in a pull request'],
    ],
    load: async () => onPath((await import('./commands/planCommand.ts')).planCommand),
  },
  {
    name: 'apply',
    args: PATH_ARGUMENT,
    summary: 'apply the manifests to the services',
    examples: [
      'pharos apply monitoring/ --state pharos.db',
      'pharos apply monitoring/ --state pharos.db --approve 5e0c6f2d9a417b38   # the digest that plan shows',
      'pharos apply monitoring/ --state pharos.db --plan 90b1f0c2d5a34e6f8b7a6c5d4e3f2a1b   # only the plan that was reviewed',
    ],
    groups: [...APPLY_OPTIONS, 'limits'],
    formats: PROBLEM_FORMATS,
    options: [
      ['--approve <digest>', 'approve changes blocked by safety limits: the approval digest that plan shows'],
      ['--plan <digest>', 'apply only the plan with this digest, which "pharos plan" shows'],
    ],
    load: async () => onPath((await import('./commands/applyCommand.ts')).applyCommand),
  },
  {
    name: 'drift',
    args: PATH_ARGUMENT,
    summary: 'show manual changes since the last apply; exits 2 when there are any',
    examples: ['pharos drift monitoring/ --state pharos.db || notify-the-team'],
    groups: ['manifests', 'selection', 'api', 'requiredState', 'grace'],
    load: async () => onPath((await import('./commands/driftCommand.ts')).driftCommand),
  },
  {
    name: 'export',
    args: [],
    summary: 'export the services of the organisation as manifests',
    examples: [
      'pharos export | less',
      'pharos export --write monitoring/',
      'pharos export --write monitoring/ --env production   # then plan monitoring/ --env production',
    ],
    groups: ['api'],
    options: [
      ['--write <dir>', 'write one file per service; existing files are never overwritten'],
      [
        '--env <name>',
        'also write an Environment of this name, with a variable for each origin that endpoints share',
      ],
    ],
    load: async () => (await import('./commands/exportCommand.ts')).exportCommand,
  },
  {
    name: 'approve',
    args: [['[digest]', 'approval digest that "pharos plan" shows for blocked changes']],
    summary: 'approve changes blocked by safety limits, or the current values of fields',
    examples: [
      'pharos approve 5e0c6f2d9a417b38 --state pharos.db                        # used once, by the next run',
      'pharos approve --pointers /regions,/interval_secs --state pharos.db      # accept the current values',
    ],
    groups: ['api', 'requiredState', 'lock'],
    options: [
      ['--pointers <pointers>', 'JSON pointers (a,b): record the current values of these fields as applied'],
      ACTOR_OPTION,
    ],
    load: async () => (await import('./commands/approveCommand.ts')).approveCommand,
  },
  {
    name: 'controller',
    args: [],
    summary: 'apply a git repository continuously, and report drift',
    examples: [
      'pharos controller --config pharos-controller.yaml',
      'pharos controller --config pharos-controller.yaml --check   # check the configuration on this machine',
      'pharos controller --config pharos-controller.yaml --once    # one cycle of every set, for cron',
    ],
    groups: [],
    options: [
      ['--config <file>', 'configuration file (default: pharos-controller.yaml)'],
      ['--once', 'run one cycle of every set and end with its exit code'],
      ['--lock-timeout <duration>', 'with --once: how long to wait for each state lock (default: 0s)'],
      ['--check', 'check the configuration, its secrets and its folders, then exit'],
    ],
    load: async () => (await import('./commands/controllerCommand.ts')).controllerCommand,
  },
  {
    name: 'fmt',
    args: PATH_ARGUMENT,
    summary:
      'format manifests: order of fields, line breaks, blank lines; keeps indentation, quotes and comments',
    examples: [
      'pharos fmt monitoring/',
      'pharos fmt monitoring/ --check   # changes nothing; exits 2 when a file is not formatted',
    ],
    groups: [],
    options: [['--check', 'list the files that would change, and exit 2 if there are any']],
    load: async () => onPath((await import('./commands/fmtCommand.ts')).fmtCommand),
  },
  {
    name: 'import',
    isListed: false,
    args: [
      ['<format>', `format of the files: ${IMPORT_FORMATS.join(', ')}`],
      ['<file...>', 'configuration files, exports or a kuma.db'],
    ],
    summary: 'create manifests from the configuration of another tool, or from an OpenAPI document',
    examples: [
      'pharos import gatus config.yaml --write monitoring/',
      'pharos import blackbox blackbox.yml prometheus.yml --write monitoring/ --region us-east-1',
      'pharos import uptime-kuma kuma.db --json | jq .notes',
    ],
    groups: [],
    options: [
      ['--write <dir>', 'write one file per service; existing files are never overwritten'],
      ['--region <codes>', 'regions (a,b) that check the services (default: eu-west-1)'],
    ],
    load: async () => (await import('./commands/importCommand.ts')).importCommand,
  },
  {
    name: 'schema',
    isListed: false,
    args: [],
    summary: 'print the JSON Schema of manifests, or of the configuration of the controller, for editors',
    examples: ['pharos schema > manifest.schema.json'],
    groups: [],
    options: [['--controller', 'print the schema of pharos-controller.yaml instead']],
    load: async () => (await import('./commands/schemaCommand.ts')).schemaCommand,
  },
  {
    name: 'completion',
    isListed: false,
    args: [['<shell>', 'bash, zsh or fish']],
    summary: 'print the completion script of a shell',
    examples: [
      'source <(pharos completion bash)',
      'source <(pharos completion zsh)',
      'pharos completion fish > ~/.config/fish/completions/pharos.fish',
    ],
    groups: [],
    load: async () => {
      const { completionCommand } = await import('./commands/completionCommand.ts')
      return (args, context) => completionCommand(COMMANDS, args, context)
    },
  },
  ...STATE_COMMANDS,
]
