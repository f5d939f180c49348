import { noteOnce } from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

/** The rules of a scrape configuration that set the parameter `name` of the exporter. */
function rulesOf(config: SourceValue, name: string): readonly SourceValue[] {
  const rules = config.get('relabel_configs').items()
  return rules.filter((rule) => rule.get('target_label').text() === `__param_${name}`)
}

/** The settings of a rule by which it copies a label as it is. */
const COPYING: Readonly<Record<string, RegExp>> = {
  action: /^replace$/i,
  regex: /^\(\.[*+]\)$/,
  replacement: /^\$(?:1|\{1\})$/,
}

/** A rule that copies one label as it is. */
function copiedLabel(rule: SourceValue): string | undefined {
  const [label, ...others] = rule.get('source_labels').items()
  const isCopy = Object.entries(COPYING).every(
    ([key, usual]) => !rule.get(key).isThere || usual.test(rule.get(key).text() ?? ''),
  )
  return others.length > 0 || !isCopy ? undefined : label?.text()
}

/** Notes rules that change or select targets, modules or labels in ways that are not read here. */
export function noteRelabelling(config: SourceValue): void {
  for (const rule of rulesOf(config, 'target')) {
    if (copiedLabel(rule) !== '__address__') {
      rule.note('left out: the rule changes targets: correct the URLs of the manifests')
    }
  }
  for (const rule of rulesOf(config, 'module')) {
    if (copiedLabel(rule) === undefined) rule.note('left out: the rule changes modules: check the manifests')
  }
  const rules = config.get('relabel_configs').items()
  for (const rule of rules) {
    const action = rule.get('action').text()?.toLowerCase() ?? ''
    if (/^(?:keep|drop)(?:equal)?$/.test(action))
      rule.note('left out: the rule selects targets: remove the manifests of the others')
  }
  noteOnce(rules.filter(setsLabel), 'left out: labels that rules set')
}

/** Whether a rule sets a label of targets; every configuration sets `instance` to the target. */
function setsLabel(rule: SourceValue): boolean {
  const label = rule.get('target_label').text() ?? '__'
  const isUsual = label === 'instance' && ['__param_target', '__address__'].includes(copiedLabel(rule) ?? '')
  return !label.startsWith('__') && !isUsual
}

/** The module that a label of a target chooses, by itself or by a rule that copies it. */
export function moduleOf(config: SourceValue, labels: SourceValue): string | undefined {
  const copied = rulesOf(config, 'module').flatMap((rule) => copiedLabel(rule) ?? [])
  return [...copied, '__param_module']
    .map((label) => labels.get(label).text())
    .find((one) => one !== undefined)
}
