/** Options of all commands. */
export const EVERYWHERE = [
  ['--json', 'print one JSON document instead of text'],
  ['--quiet', 'print no progress on stderr'],
] as const

/** Flags and descriptions of the options that several commands share. */
export const OPTIONS = {
  manifests: [
    ['--env <name>', 'Environment whose variables and patches to apply'],
    ['--secrets-dir <dir>', 'folder of secret files (default: PHAROS_SECRETS_DIR, or /run/secrets)'],
    ['--allow-inline-secrets', 'accept { value: …, sensitive: true } in manifests'],
  ],
  selection: [
    ['--selector <labels>', 'only services whose labels match, such as team=shop,tier in (1,2)'],
    ['--target <names>', 'only these services: metadata.name, several separated by commas'],
  ],
  api: [
    ['--url <url>', 'address of the API (default: PHAROS_URL)'],
    [
      '--ca-file <file>',
      'CA certificates (PEM) to trust instead of the default ones (default: PHAROS_CA_FILE)',
    ],
    ['--rate <number>', 'maximum requests a second for each key (default: 20 at once, then 5)'],
    [
      '--timeout <duration>',
      'time limit of the command; it also ends after ten minutes without a useful response (default: PHAROS_TIMEOUT, or 1h)',
    ],
  ],
  state: [
    [
      '--state <place>',
      'state location: an SQLite file or git:ADDRESS#refs/pharos/NAME; the first apply creates it',
    ],
  ],
  requiredState: [
    ['--state <place>', 'state location: an SQLite file or git:ADDRESS#refs/pharos/NAME (required)'],
  ],
  lock: [['--lock-timeout <duration>', 'how long to wait for the state lock (default: 0s)']],
  limits: [
    [
      '--max-deletes <limit>',
      'deletions of one run without approval: a count, a percentage of the set, or the greater of both (default: 3,10%; half of a small set)',
    ],
    [
      '--max-updates <limit>',
      'the same limit for updates, and for updates that undo drift (default: 10,30%)',
    ],
    [
      '--max-recreates <limit>',
      'the same limit for creating services again that were deleted outside git (default: 3,10%)',
    ],
  ],
  grace: [
    [
      '--create-grace <duration>',
      'how long a creation without a response may still take effect (default: 60s)',
    ],
  ],
} satisfies Readonly<Record<string, readonly (readonly [string, string])[]>>

/** The name of options that several commands have. */
export type OptionGroup = keyof typeof OPTIONS
