/** A metric that a PromQL expression reads, and the labels by which it selects. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** The metrics and labels that an expression reads. */
export interface Expression {
  readonly selectors: readonly Selector[]
  /** Labels by which it groups and matches. */
  readonly groupedBy: readonly string[]
}

/** The metrics in `expression`, if they have one of our prefixes or are `up`, and its labels. Pure. */
export function readExpression(expression: string): Expression {
  const bare = expression.replaceAll(/"[^"]*"/g, '""')
  const selectors = [
    ...bare.matchAll(/\b(up|(?:pharos|probe|process|nodejs)_[a-z0-9_]+)\b(?:\{([^}]*)\})?/g),
  ].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }))
  const groupedBy = [...bare.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    ([, labels = '']) => labels.split(',').map((label) => label.trim()),
  )
  return { selectors, groupedBy }
}

/** Labels of each metric on a page in Prometheus' text format; empty for a metric without samples. Pure. */
export function labelsOnPage(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const labelsOf = (metric: string): Set<string> => {
    const labels = found.get(metric) ?? new Set()
    found.set(metric, labels)
    return labels
  }
  for (const [, metric = '', type] of page.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    labelsOf(metric)
    if (type === 'histogram') labelsOf(`${metric}_bucket`).add('le')
  }
  for (const [, metric = '', labels = ''] of page.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    for (const [, label = ''] of labels.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/(\w+)=""/g)) {
      labelsOf(metric).add(label)
    }
  }
  return found
}

/** Labels of metrics in documents, which write `name{label,label}`. Pure. */
export function documentedLabels(documents: string): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    [...documents.matchAll(/`(pharos_\w+)\{([\w,]+)\}`/g)].map(([, metric = '', labels = '']) => [
      metric,
      new Set(labels.split(',')),
    ]),
  )
}
