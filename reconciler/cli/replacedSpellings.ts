/** Options and commands of earlier versions, with what replaces them. */
const REPLACED: Readonly<Record<string, string>> = {
  '--out':
    'saved plan files are gone: hand the digest that "pharos plan" shows to "pharos apply --plan DIGEST"',
  rollback:
    '"pharos rollback" is gone: revert the commit in git ("git revert") and apply; "pharos state suspend" keeps other runs away meanwhile',
  rebaseline: '"pharos rebaseline" is now "pharos approve --pointers"',
  '--allow-aliases':
    'aliases are refused: share values with a Defaults document, or expand them before ("yq \'explode(.)\'")',
  '--allow-sops':
    'pharos no longer runs sops: start it with "sops exec-env FILE", and refer to { env: NAME }',
  '--allow-exec':
    'pharos no longer runs programs: have a secret in a variable ({ env: NAME }) or a file ({ file: PATH }) before it starts',
  '--strict': '"pharos apply --plan DIGEST" always applies the reviewed plan whole or not at all',
}

/** What replaces the option or command that a message of the parser of command lines calls unknown; `undefined` for none. Pure. */
export function replacementIn(message: string): string | undefined {
  const [, name = ''] = /unknown (?:option|command) '([^'=]+)/.exec(message) ?? []
  return Object.hasOwn(REPLACED, name) ? REPLACED[name] : undefined
}
