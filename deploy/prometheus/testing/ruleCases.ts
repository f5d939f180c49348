/** A case of an alert rule: series, and the labels of the alerts that fire. */
interface Case {
  /** Series and their values, one a minute, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>
  /** Time at which the rule is evaluated (minutes after the first value). */
  readonly atMinute: number
}

/** Cases of a rule: one in which it fires, with the labels of its alert, and some in which it does not. */
export interface RuleCases {
  readonly firing: Case & { readonly labels: Readonly<Record<string, string>> }
  readonly quiet: readonly Case[]
}

/** A case with one series. `values` are in promtool's notation. */
const one = (series: string, values: string, atMinute: number): Case => ({
  series: { [series]: values },
  atMinute,
})

/**
 * Cases of a rule on a gauge without labels of its own, which does not fire with `good`, nor while `bad` has not lasted
 * long enough.
 */
function gauge(name: string, bad: number, good: number, atMinute = 60): RuleCases {
  const series = `${name}{job="pharos",instance="a:1"}`
  return {
    firing: {
      ...one(series, `${bad}+0x${atMinute}`, atMinute),
      labels: { job: 'pharos', instance: 'a:1' },
    },
    quiet: [one(series, `${good}+0x${atMinute}`, atMinute)],
  }
}

/**
 * Cases of a rule on a metric of an agent. It does not fire with `good`, nor for the metric on the agent's own page,
 * which would count it twice.
 */
function agent(name: string, bad: string, good: string): RuleCases {
  const series = `${name}{region="eu-west-1",agent="dublin-1",exported_instance="x"}`
  return {
    firing: { ...one(series, bad, 60), labels: { region: 'eu-west-1', agent: 'dublin-1' } },
    quiet: [one(series, good, 60), one(`${name}{instance="a:1"}`, bad, 60)],
  }
}

/** Cases of a rule on a metric of a controller's set. */
function ofSet(series: string, bad: string, good: string, atMinute = 60): RuleCases {
  const labels = Object.fromEntries(
    [...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  return {
    firing: { ...one(series, bad, atMinute), labels },
    quiet: [one(series, good, atMinute)],
  }
}

const REQUESTS = 'pharos_http_requests_total{instance="a:1",status='
const DURATION = 'pharos_http_request_duration_seconds_bucket{instance="a:1",le='
const DELIVERIES = 'pharos_deliveries_total{kind="slack",outcome='
const NOTIFICATIONS = 'pharos_notifications_total{channel="ops",result='
const ENDPOINT = 'pharos_endpoint_state{service_name="Shop",instance="https://shop.example/",state='
const CERTIFICATE =
  'probe_ssl_earliest_cert_expiry{org="o",service="s",service_name="Shop",instance="https://shop.example/",region='
const LAST_SUCCESS = 'pharos_last_success_timestamp_seconds'
const LEADER = 'pharos_lease_is_leader'

/** Cases of all rules, by the name of the alert. */
export const RULE_CASES: Readonly<Record<string, RuleCases>> = {
  PharosServerDown: {
    firing: {
      ...one('up{job="pharos",instance="a:1"}', '1 0x5', 4),
      labels: { job: 'pharos', instance: 'a:1' },
    },
    // A scrape that failed once, and another program that is down.
    quiet: [one('up{job="pharos",instance="a:1"}', '1 0 1x5', 4), one('up{job="other"}', '0x5', 4)],
  },
  PharosDatabaseDown: gauge('pharos_database_up', 0, 1),
  PharosResultsNotStored: {
    ...gauge('pharos_results_up', 0, 1),
    quiet: [
      one('pharos_results_up{instance="a:1"}', '1x60', 60),
      // PharosDatabaseDown fires.
      {
        series: {
          'pharos_results_up{instance="a:1"}': '0x60',
          'pharos_database_up{instance="a:1"}': '0x60',
        },
        atMinute: 60,
      },
    ],
  },
  PharosNothingMonitors: {
    firing: { ...one('pharos_monitoring{instance="a:1"}', '0+0x5', 4), labels: {} },
    // Another server takes over after a while.
    quiet: [one('pharos_monitoring{instance="a:1"}', '0 1+0x5', 4)],
  },
  PharosResultsWait: gauge('pharos_results_waiting', 51, 50),
  PharosThreadRestarts: {
    firing: {
      ...one('pharos_thread_restarts_total{thread="checks"}', '0 1 2 4x57', 59),
      labels: { thread: 'checks' },
    },
    quiet: [
      one('pharos_thread_restarts_total{thread="checks"}', '0 1x58', 59),
      // The database did not respond for a while.
      {
        series: {
          'pharos_thread_restarts_total{instance="a:1",thread="results"}': '0 1 2 4x57',
          'pharos_database_up{instance="a:1"}': '1 0 0 1x57',
        },
        atMinute: 59,
      },
    ],
  },
  PharosTransitionsBehind: gauge('pharos_transitions_behind', 1_001, 1_000),
  PharosOutboxStuck: gauge('pharos_outbox_oldest_unpublished_age_seconds', 61, 60),
  PharosApiFails: {
    firing: {
      series: { [`${REQUESTS}"200"}`]: '0+98x30', [`${REQUESTS}"500"}`]: '0+2x30' },
      atMinute: 30,
      labels: { instance: 'a:1' },
    },
    quiet: [
      { series: { [`${REQUESTS}"200"}`]: '0+99x30', [`${REQUESTS}"500"}`]: '0+1x30' }, atMinute: 30 },
      { series: { [`${REQUESTS}"200"}`]: '0+50x30', [`${REQUESTS}"404"}`]: '0+50x30' }, atMinute: 30 },
    ],
  },
  PharosApiSlow: {
    firing: {
      series: {
        [`${DURATION}"1"}`]: '0+98x30',
        [`${DURATION}"2.5"}`]: '0+100x30',
        [`${DURATION}"+Inf"}`]: '0+100x30',
      },
      atMinute: 30,
      labels: { instance: 'a:1' },
    },
    quiet: [{ series: { [`${DURATION}"1"}`]: '0+99x30', [`${DURATION}"+Inf"}`]: '0+99x30' }, atMinute: 30 }],
  },
  PharosDiskFull: gauge('pharos_disk_free_bytes', 2 ** 30 - 1, 2 ** 30),
  PharosDiskFills: {
    // 100 GiB that fill up within a day, and within ten days.
    firing: { ...one('pharos_disk_free_bytes', '107374182400-74565404x480', 480), labels: {} },
    quiet: [one('pharos_disk_free_bytes', '107374182400-7456540x480', 480)],
  },
  PharosBackupOld: gauge('pharos_backup_age_seconds', 172_801, 172_800),
  PharosBackupsFail: {
    firing: { ...one('pharos_backups_failed_total', '0 0 1x57', 59), labels: {} },
    quiet: [one('pharos_backups_failed_total', '1x59', 59)],
  },
  PharosDeliveriesFail: {
    // The series begins with the first failure.
    firing: {
      ...one(`${DELIVERIES}"gone"}`, '_x50 1x10', 55),
      labels: { kind: 'slack', outcome: 'gone' },
    },
    quiet: [
      one(`${DELIVERIES}"failed"}`, '1x200', 180),
      one(`${DELIVERIES}"again"}`, '0+1x59', 59),
      one(`${DELIVERIES}"sent"}`, '0+1x59', 59),
    ],
  },
  PharosChannelDisabled: gauge('pharos_channels_disabled', 1, 0),

  PharosProbesNotRead: {
    firing: {
      ...one('up{job="blackbox",instance="a:1"}', '1 0x12', 12),
      labels: { job: 'blackbox', instance: 'a:1' },
    },
    quiet: [one('up{job="blackbox",instance="a:1"}', '1 0x5 1x8', 12)],
  },
  PharosEndpointDown: {
    firing: {
      ...one(`${ENDPOINT}"down"}`, '1x10', 10),
      labels: { service_name: 'Shop', instance: 'https://shop.example/', state: 'down' },
    },
    quiet: ['degraded', 'maintenance'].map((state) => ({
      series: { [`${ENDPOINT}"down"}`]: '0x10', [`${ENDPOINT}"${state}"}`]: '1x10' },
      atMinute: 10,
    })),
  },
  PharosEndpointUnknown: {
    firing: {
      ...one(`${ENDPOINT}"unknown"}`, '1x20', 20),
      labels: { service_name: 'Shop', instance: 'https://shop.example/', state: 'unknown' },
    },
    quiet: [one(`${ENDPOINT}"unknown"}`, '1x10 0x10', 20)],
  },
  PharosCertificateExpires: {
    // One alert for all regions. Seven days are 604,800 s; the case that does not fire has 604,900 s left at minute 90.
    firing: {
      series: { [`${CERTIFICATE}"eu-west-1"}`]: '606000x90', [`${CERTIFICATE}"us-east-1"}`]: '606000x90' },
      atMinute: 90,
      labels: { org: 'o', service: 's', service_name: 'Shop', instance: 'https://shop.example/' },
    },
    quiet: [one(`${CERTIFICATE}"eu-west-1"}`, '610300x90', 90)],
  },

  PharosRegionUnchecked: {
    firing: {
      ...one('pharos_region_agents{region="eu-west-1"}', '0x10', 10),
      labels: { region: 'eu-west-1' },
    },
    // An agent is replaced.
    quiet: [one('pharos_region_agents{region="eu-west-1"}', '1 0x3 1x6', 10)],
  },
  PharosAgentSuspect: agent('pharos_agent_suspect', '1x60', '0x60'),
  PharosAgentClock: agent('pharos_agent_clock_offset_seconds', '-31x60', '30x60'),
  PharosAgentResultsWait: agent('pharos_agent_results_waiting', '1001x60', '1000x60'),
  PharosAgentLosesResults: agent('pharos_agent_results_dropped_total', '0x30 5x29', '5x60'),
  PharosChecksLate: agent('pharos_agent_scheduler_lag_seconds', '5.1x60', '5x60'),
  PharosChecksSkipped: agent('pharos_agent_slots_skipped_total', '0+1x60', '0 1x59'),

  PharosControllerDown: {
    firing: {
      ...one('up{job="pharos-controller",instance="a:1"}', '1 0x8', 7),
      labels: { job: 'pharos-controller', instance: 'a:1' },
    },
    // A restart takes a few minutes.
    quiet: [one('up{job="pharos-controller",instance="a:1"}', '1 0x4 1x8', 7)],
  },
  PharosNotConverging: {
    firing: {
      series: {
        [`${LAST_SUCCESS}{set="shop",instance="a:1"}`]: '0x60',
        [`${LEADER}{set="shop",instance="a:1"}`]: '1x60',
      },
      atMinute: 60,
      labels: { set: 'shop', instance: 'a:1' },
    },
    // A person suspended the set. The other replica leads, and its runs succeed.
    quiet: [
      {
        series: {
          [`${LAST_SUCCESS}{set="shop",instance="a:1"}`]: '0x60',
          [`${LEADER}{set="shop",instance="a:1"}`]: '1x60',
          'pharos_condition{set="shop",instance="a:1",condition="Suspended"}': '1x60',
        },
        atMinute: 60,
      },
      {
        series: {
          [`${LAST_SUCCESS}{set="shop",instance="a:1"}`]: '0x60',
          [`${LEADER}{set="shop",instance="a:1"}`]: '0x60',
          [`${LAST_SUCCESS}{set="shop",instance="b:1"}`]: '0+60x60',
          [`${LEADER}{set="shop",instance="b:1"}`]: '1x60',
        },
        atMinute: 60,
      },
    ],
  },
  PharosNeedsDecision: {
    ...ofSet('pharos_condition{set="shop",condition="ApprovalRequired"}', '1x60', '1x30 stale'),
    quiet: [one('pharos_condition{set="shop",condition="Ready"}', '1x60', 60)],
  },
  PharosCannotReadSource: ofSet(
    'pharos_condition{set="shop",condition="ManifestsInvalid"}',
    '1x60',
    '1x10 stale',
  ),
  PharosNoLeader: {
    firing: { ...one(`${LEADER}{set="shop",instance="a:1"}`, '0x10', 10), labels: { set: 'shop' } },
    quiet: [
      // A leader with a state in git was killed.
      {
        series: {
          [`${LEADER}{set="shop",instance="a:1"}`]: '1 stale',
          [`${LEADER}{set="shop",instance="b:1"}`]: '0x4 1x6',
        },
        atMinute: 4,
      },
      {
        series: {
          [`${LEADER}{set="shop",instance="a:1"}`]: '0x10',
          [`${LEADER}{set="shop",instance="b:1"}`]: '1x10',
        },
        atMinute: 10,
      },
    ],
  },
  PharosForgottenSuspension: ofSet('pharos_suspended_seconds{set="shop"}', '86401x60', '86400x60'),
  PharosCommitLags: ofSet('pharos_commit_lag_seconds{set="shop"}', '3601x60', '3600x60'),
  PharosKeyIsShared: ofSet('pharos_api_throttled_seconds_total{set="shop"}', '0+7x90', '0+5x90', 90),
  PharosNotificationsFail: {
    // The series begins with the first failure.
    firing: {
      ...one(`${NOTIFICATIONS}"refused"}`, '_x50 1x10', 55),
      labels: { channel: 'ops', result: 'refused' },
    },
    quiet: [
      one(`${NOTIFICATIONS}"dropped"}`, '1x200', 180),
      one(`${NOTIFICATIONS}"delivered"}`, '0+1x59', 59),
    ],
  },
}
