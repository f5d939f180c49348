import type { Command } from 'commander'
import { StrictCommand } from '../../api/runtime/strictCommand.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { addAccountCommands } from './accountCommands.ts'
import { addAgentCommands } from './agentCommands.ts'
import { addBackupCommands } from './backupCommands.ts'
import { addChannelCommands } from './channelCommands.ts'
import { addCommandLog } from './commandLog.ts'
import { addDoctorCommand } from './database/doctorCommand.ts'
import { addMigrateCommand } from './database/migrateCommand.ts'
import { addDevCommand } from './dev/devCommand.ts'
import { addIncidentCommands, addServiceCommands } from './incidentCommands.ts'
import { addKeyCommands } from './keyCommands.ts'
import { addMaintenanceCommands } from './maintenanceCommands.ts'
import { addMasterKeyCommands } from './masterKeyCommands.ts'
import { addAuditCommands, addOrgCommands } from './orgCommands.ts'
import { addPlanCommands } from './planCommands.ts'
import { addRegionCommands } from './regionCommands.ts'
import { addResultCommands } from './resultCommands.ts'
import { addServeCommand } from './serveCommand.ts'
import { addStatusPageCommands } from './statusPageCommands.ts'

/** The parts of the process that the command line uses. */
export interface CommandLineParts {
  readonly write: (text: string) => void
  readonly writeError: (text: string) => void
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * The command line of pharos-server. Commands reject with their failure; an invalid command line and a request for help
 * reject with a CommanderError after their output was written.
 */
export function commandLine({ write, writeError, environment }: CommandLineParts): Command {
  const program = new StrictCommand('pharos-server')
    .description('server of the Monitoring Service Management API, on SQLite or PostgreSQL')
    .version(packageJson.version)
    .configureOutput({ writeOut: write, writeErr: writeError })
    .exitOverride()
  addServeCommand(program, environment)
  addDevCommand(program)
  addOrgCommands(program)
  addServiceCommands(program)
  addAccountCommands(program)
  addPlanCommands(program)
  addKeyCommands(program)
  addMaintenanceCommands(program)
  addChannelCommands(program, environment)
  addAuditCommands(program)
  addCommandLog(program)
  addResultCommands(program)
  addIncidentCommands(program)
  addStatusPageCommands(program)
  addRegionCommands(program)
  addAgentCommands(program)
  addMasterKeyCommands(program, environment)
  addBackupCommands(program)
  addMigrateCommand(program)
  addDoctorCommand(program, environment)
  return program
}
