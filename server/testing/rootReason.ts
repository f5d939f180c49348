/**
 * Why tests that mount small disks, change what a name means, or listen on a privileged port cannot run here; `null` when
 * they can.
 */
export const rootReason: string | null =
  process.platform === 'linux' && process.getuid?.() === 0 ? null : 'needs root on Linux'
