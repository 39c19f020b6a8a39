// SPDX-License-Identifier: Apache-2.0

import Archive
import Shop
import Storage

/// Explains a database's fault to the user of the command.
enum DatabaseFailure {
    /// Returns any error that does not come from a database or an archive
    /// unchanged.
    static func told(_ error: any Error, isPostgres: Bool) -> any Error {
        switch error {
        case let fault as ArchiveFault: failure(fault)
        case let fault as StorageFault: failure(fault, isPostgres: isPostgres)
        default: error
        }
    }

    static func failure(_ fault: ArchiveFault) -> Failure {
        // Of the place; all others are of the file that was named.
        let isOfPlace: Set<ArchiveFault.Code> = [.unwritable, .targetNotEmpty, .source]
        return Failure(
            isOfPlace.contains(fault.code) ? .taken : .input, fault.code.rawValue, fault.message,
            field: fault.code == .targetNotEmpty ? "--data" : "FILE", rule: fault.rule,
            remedy: fault.remedy)
    }

    /// The exit status is 69 for a server that cannot be reached, and 73 for a
    /// place that cannot be used.
    static func failure(_ fault: StorageFault, isPostgres: Bool) -> Failure {
        let (code, rule, remedy) = words(fault.code, isPostgres)
        let away: Set<StorageFault.Code> = [.unavailable, .busy, .outcomeUnknown]
        let isAway = isPostgres && away.contains(fault.code)
        return Failure(
            isAway ? .unavailable : .taken, code, fault.description,
            field: fault.code == .otherClusters
                ? "--cluster" : isPostgres ? "--database" : "--data",
            rule: rule, remedy: remedy)
    }

    private static func words(
        _ code: StorageFault.Code, _ isPostgres: Bool
    ) -> (code: String, rule: String, remedy: String) {
        switch code {
        case .unavailable where isPostgres:
            (
                "databaseUnreachable",
                "a PostgreSQL 13 or newer that can be reached, written and trusted",
                "check the server, the address and the password, then try again"
            )
        case .outcomeUnknown where isPostgres:
            (
                "databaseOutcomeUnknown",
                "the server reports the outcome of a commit",
                "check the server and try again: what was begun is taken up where it stands"
            )
        case .busy where !isPostgres:
            (
                "dataTaken", "one server at a time has a data directory",
                "stop the other server, or name another directory"
            )
        case .busy: ("databaseBusy", "the server has a connection free", "try again in a moment")
        case .full:
            (
                "databaseFull", "there is room for what is written",
                "make room on the disk, or raise the quota; nothing acknowledged is lost"
            )
        case .readOnly:
            (
                "databaseReadOnly", "the store may write in its databases",
                isPostgres
                    ? "name the primary, or let the role write (default_transaction_read_only)"
                    : "give the files back to their owner, mode 0600, on a disk that is writable"
            )
        case .halfRestored:
            (
                "halfRestored", "a restore that was begun is finished before anything is served",
                "run `database restore` (a ledger: `ledger restore`) again; it begins anew"
            )
        case .halfAdvanced:
            (
                "halfAdvanced", "an advance that was begun is finished before anything is served",
                "run `database advance` again, with the same --cluster options"
            )
        case .otherClusters:
            (
                "otherClusters",
                "a realm's customers stay on the clusters that it was made with",
                "give the same --cluster options, each naming the same database; after one was set "
                    + "back, run `database advance`; moving buckets is not built"
            )
        case .unreadable:
            (
                "databaseUnreadable",
                "a database of ours, of this program's version or an older one",
                "use the newest program that served it, or restore a backup"
            )
        default:
            (
                "dataUnusable", "databases that may be opened, read and written",
                "check the place, its owner and its disk"
            )
        }
    }
}
