/** The completion of one command. */
export interface CompletedCommand {
  /** One word, or two of a group: `state verify`. */
  readonly name: string
  readonly summary: string
  readonly options: readonly {
    readonly long: string
    readonly description: string
    /** Its value: one of some words (any text when empty), a file, or `none` for a flag. */
    readonly values: readonly string[] | 'files' | 'none'
  }[]
  /** The first argument, likewise; `names` are keys of the state. Further arguments are files. */
  readonly argument: readonly string[] | 'files' | 'names'
}

/** The last line of the script for bash. */
const BASH_END = 'complete -F _pharos pharos'

/**
 * A script for bash that completes commands, options, values, paths, and the names of manifests from a state file in --state. A
 * state in git is left out, because it would need the network. Pure.
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
  COMPREPLY=($(compgen -W "$(pharos state status --state "$state" 2>/dev/null | sed -n 's/^  \\([a-z0-9][-a-z0-9._]*\\): service .*/\\1/p')" -- "$1"))
}
_pharos() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} words=1
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${[...firstWords(commands), '--help', '--version'].join(' ')}' -- "$current"))
    return 0
  fi
  case "$command" in
${groupsOf(commands).map(bashGroup).join('\n')}
  esac
  case "$command:$previous" in
${commands.flatMap(bashValues).join('\n')}
  esac
  case "$command" in
${commands.map(bashCommand).join('\n')}
  esac
}
${BASH_END}`
}

/** A group of commands. */
interface Group {
  readonly name: string
  readonly commands: readonly CompletedCommand[]
}

function groupsOf(commands: readonly CompletedCommand[]): readonly Group[] {
  const names = new Set(
    commands.flatMap(({ name }) => (name.includes(' ') ? (name.split(' ')[0] ?? []) : [])),
  )
  return [...names].map((name) => ({
    name,
    commands: commands.filter((command) => command.name.startsWith(`${name} `)),
  }))
}

function firstWords(commands: readonly CompletedCommand[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
}

function lastWord({ name }: CompletedCommand): string {
  return name.split(' ').at(-1) ?? ''
}

function bashGroup({ name, commands }: Group): string {
  return `    ${name})
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W '${[...commands.map(lastWord), '--help'].join(' ')}' -- "$current"))
        return 0
      fi
      command="${name} \${COMP_WORDS[2]}" words=2
      ;;`
}

function bashValues({ name, options }: CompletedCommand): readonly string[] {
  return options.flatMap(({ long, values }) => {
    if (values === 'none') return []
    if (values === 'files') return [`    '${name}:${long}') _pharos_files "$current"; return 0 ;;`]
    return [
      `    '${name}:${long}') COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return 0 ;;`,
    ]
  })
}

function bashCommand({ name, options, argument }: CompletedCommand): string {
  const words = options.map(({ long }) => long).join(' ')
  const given = Array.isArray(argument)
    ? `COMPREPLY=($(compgen -W '${argument.join(' ')}' -- "$current"))`
    : ''
  const otherwise =
    argument === 'names'
      ? '_pharos_names "$current"'
      : given === ''
        ? '_pharos_files "$current"'
        : argument.length === 0
          ? ':'
          : `if ((COMP_CWORD == words + 1)); then ${given}; else _pharos_files "$current"; fi`
  return `    '${name}')
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '${words}' -- "$current")); else ${otherwise}; fi
      ;;`
}

/**
 * The same for zsh, which runs the script for bash, but needs explicit word endings: a slash for a folder, a blank for other
 * words. Pure.
 */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `# pharos completion for zsh: source <(pharos completion zsh)
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(commands).replace(BASH_END, '')}_pharos_files() {
  local IFS=$'\n' word
  for word in $(compgen -f -- "$1"); do
    if [[ -d $word ]]; then word+=/; fi
    COMPREPLY+=("$word")
  done
}
_pharos_zsh() {
  _pharos
  local word words=()
  for word in "\${COMPREPLY[@]}"; do
    if [[ $word != */ ]]; then word+=' '; fi
    words+=("$word")
  done
  COMPREPLY=("\${words[@]}")
}
complete -o nospace -F _pharos_zsh pharos`
}

/** The same for fish. Pure. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return `# pharos completion for fish
function __pharos_command
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; or test "$words[2] $words[3]" = "$argv[1]"
end
function __pharos_words
    test (count (commandline -opc)) -eq $argv[1]
end
function __pharos_names
    set -l words (commandline -opc)
    set -l index (contains -i -- --state $words); or return 0
    set -l state $words[(math $index + 1)]
    test -f "$state"; or return 0
    pharos state status --state $state 2>/dev/null | string replace -rf '^  ([a-z0-9][-a-z0-9._]*): service .*' '$1'
end
complete -c pharos -n '__pharos_words 1' -f -l help -d 'show help'
complete -c pharos -n '__pharos_words 1' -f -l version -d 'show the version'
${groupsOf(commands).map(fishGroup).join('\n')}
${commands.flatMap(fishCommand).join('\n')}`
}

function fishGroup({ name }: Group): string {
  return `complete -c pharos -n '__pharos_words 1' -f -a ${name}`
}

function fishCommand({ name, summary, options, argument }: CompletedCommand): readonly string[] {
  const words = name.split(' ')
  const here = `__pharos_command "${name}"`
  const before = words.length === 1 ? '' : `__pharos_command ${words[0]}; and `
  return [
    `complete -c pharos -n '${before}__pharos_words ${words.length}' -f -a ${words.at(-1)} -d ${quoted(summary)}`,
    ...fishArgument(here, argument, words.length + 1),
    ...options.map(({ long, description, values }) => {
      const value =
        values === 'none'
          ? ''
          : values === 'files'
            ? ' -r -F'
            : ` -x${values.length > 0 ? ` -a '${values.join(' ')}'` : ''}`
      return `complete -c pharos -n '${here}' -l ${long.slice(2)}${value} -d ${quoted(description)}`
    }),
  ]
}

function fishArgument(
  here: string,
  argument: CompletedCommand['argument'],
  place: number,
): readonly string[] {
  if (argument === 'files') return []
  if (argument === 'names') return [`complete -c pharos -n '${here}' -f -a '(__pharos_names)'`]
  if (argument.length === 0) return [`complete -c pharos -n '${here}' -f`]
  return [`complete -c pharos -n '${here}; and __pharos_words ${place}' -f -a '${argument.join(' ')}'`]
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
