/** Removed options and commands, with their replacements. */
const REPLACED: Readonly<Record<string, string>> = {
  '--out':
    'saved plan files were removed: pass the digest that "pharos plan" shows to "pharos apply --plan DIGEST"',
  rollback:
    '"pharos rollback" was removed: revert the commit in git ("git revert") and apply; "pharos state suspend" blocks other runs meanwhile',
  rebaseline: '"pharos rebaseline" is now "pharos approve --pointers"',
  '--dry-run':
    '"pharos plan" shows what apply would do, and "pharos state adopt plan" what adopt would; neither changes anything',
  '--allow-aliases':
    'aliases are refused: share values with a Defaults document, or expand them first ("yq \'explode(.)\'")',
  '--allow-sops':
    'pharos no longer runs sops: start it with "sops exec-env FILE", and refer to { env: NAME }',
  '--allow-exec':
    'pharos no longer runs programs: put a secret into a variable ({ env: NAME }) or a file ({ file: PATH }) before it starts',
  '--strict': '"pharos apply --plan DIGEST" always applies the reviewed plan completely or not at all',
}

/** The replacement of the option or command that commander's `message` calls unknown; `undefined` for none. Pure. */
export function replacementIn(message: string): string | undefined {
  const [, name = ''] = /unknown (?:option|command) '([^'=]+)/.exec(message) ?? []
  return Object.hasOwn(REPLACED, name) ? REPLACED[name] : undefined
}
