/** What a shell completes of one command. */
export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly options: readonly {
    readonly long: string
    readonly description: string
    /** What its value may be: one of some words (any when there are none), a file, or `none` when it takes none. */
    readonly values: readonly string[] | 'files' | 'none'
  }[]
  /** The same for the first argument; `names` are those of the state. */
  readonly argument: readonly string[] | 'files' | 'names'
}

/**
 * A script for bash that completes commands, options, values and paths, and the names of manifests from the
 * state that --state names: only where it is a file, because anything else would be asked over the network. Pure.
 */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# pharos completion for bash: source <(pharos completion bash)
_pharos_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$1"))
}
_pharos_names() {
  local state='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ \${COMP_WORDS[index]} == --state ]] && state=\${COMP_WORDS[index + 1]}
  done
  [[ -f $state ]] || return 0
  COMPREPLY=($(compgen -W "$(pharos status --state "$state" 2>/dev/null | sed -n 's/^  \\([a-z0-9][-a-z0-9._]*\\): service .*/\\1/p')" -- "$1"))
}
_pharos() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${[...commands.map(({ name }) => name), '--help', '--version'].join(' ')}' -- "$current"))
    return 0
  fi
  case "$command:$previous" in
${commands.flatMap(bashValues).join('\n')}
  esac
  case "$command" in
${commands.map(bashCommand).join('\n')}
  esac
}
complete -F _pharos pharos`
}

function bashValues({ name, options }: CompletedCommand): readonly string[] {
  return options.flatMap(({ long, values }) => {
    if (values === 'none') return []
    if (values === 'files') return [`    ${name}:${long}) _pharos_files "$current"; return 0 ;;`]
    return [`    ${name}:${long}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return 0 ;;`]
  })
}

function bashCommand({ name, options, argument }: CompletedCommand): string {
  const words = options.map(({ long }) => long).join(' ')
  const otherwise =
    argument === 'files'
      ? '_pharos_files "$current"'
      : argument === 'names'
        ? '_pharos_names "$current"'
        : `COMPREPLY=($(compgen -W '${argument.join(' ')}' -- "$current"))`
  return `    ${name})
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '${words}' -- "$current")); else ${otherwise}; fi
      ;;`
}

/** The same for zsh, which runs the script for bash. Pure. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `# pharos completion for zsh: source <(pharos completion zsh)
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(commands)}`
}

/** The same for fish, without names. Pure. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, argument }) => {
    const seen = `complete -c pharos -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c pharos -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(argument === 'files'
        ? []
        : [
            `${seen} -f${Array.isArray(argument) && argument.length > 0 ? ` -a '${argument.join(' ')}'` : ''}`,
          ]),
      ...options.map(({ long, description, values }) => {
        const value =
          values === 'none'
            ? ''
            : values === 'files'
              ? ' -r -F'
              : ` -x${values.length > 0 ? ` -a '${values.join(' ')}'` : ''}`
        return `${seen} -l ${long.slice(2)}${value} -d ${quoted(description)}`
      }),
    ]
  })
  return ['# pharos completion for fish', ...lines].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
