// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import SignedData
import Storage
import StoreWire
import Work

/// Rules for columns that occur in several tables.
extension ValueRule {
    static let customer = number(.customer)
    /// Rows that belong to the realm itself have the customer 0.
    static let customerOrNone = integer("a customer's number, or 0") {
        $0 == 0 || customer.admits(.integer($0))
    }
    static let bundleID = text("1 to 155 letters, digits, `-` and `.`", BundleID.isValid)
    /// That of an app, for errands in order too.
    static let lane = text("a bundle id, also behind `in-order/` or `in-order@CLOCK/`") { lane in
        BundleID.isValid(lane)
            || (Errands.isInOrder(lane) && BundleID.isValid(Errands.name(ofInOrder: lane)))
    }
    static let id = text("1 to 100 of letters, digits, `-`, `.` and `_`", IDText.isID)
    /// Of an app, as its operator creates it.
    static let version = text(
        "1 to 4 numbers of at most 6 digits, joined by `.`", isAppVersion)
    /// Of an app, as a device reports it.
    static let reportedVersion = label(bytes: 1...64)
    static let notificationType = word(NotificationKind.types)
    /// Apple's words for subtypes and for results of attempts.
    static let constant = text("1 to 64 of A–Z, digits and `_`") {
        (1...64).contains($0.utf8.count)
            && $0.utf8.allSatisfy {
                (65...90).contains($0) || (48...57).contains($0) || $0 == 95
            }
    }
    /// Why a notification is owed.
    static let cause = text(bytes: 1...512)
    /// The subject of errands and due work that concern a purchase, a refund or a
    /// subscription.
    static let purchase = text(bytes: 1...512)
    /// The processor's key of a charge.
    static let charge = text("4 to 7 ids, joined by `/`") { key in
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        return (4...7).contains(parts.count) && key.utf8.count <= 1024
            && parts.map(String.init).allSatisfy { part in
                !part.hasPrefix(".") && (IDText.isID(part) || BundleID.isValid(part))
            }
    }
    /// In thousandths of a percent.
    static let percentage = integer(0...100_000)
    /// A position in a list.
    static let place = integer(0...1_000_000)
    static let json = text(bytes: 2...4_194_304)
    /// A text that no query uses.
    static let longText = text(bytes: 0...65_536)
    static let realmID = text("1 to 64 of a–z and digits", RealmRow.isID)
    static let realmName = text(
        "1 to 40 lower-case letters a–z, digits and `-`", RealmRow.isName)
    static let environment = word(Environment.known.map(\.rawValue))
    static let seed = integer(Int64.min...Int64.max)
    static let numberKind = integer(1...Int64(IDKind.allCases.count))
    static let nextCount = integer(0...NumberLayout.countMax)
    /// Leaves room, because a restore raises it once more.
    static let generation = integer(1...(1 << 53) - (1 << 22))
    /// A hash that is not too expensive to verify.
    static let passwordHash = text(
        "`scrypt$N$r$p$salt$hash` with a cost of at most \(PasswordCost.bytesMax) bytes"
    ) { Passwords.isStored($0) }

    static func number(_ kind: IDKind) -> ValueRule {
        integer("a number of the kind \(kind)") { NumberLayout(number: $0)?.kind == kind }
    }
}

extension Table {
    /// The table of an audit. `written_at` is wall time.
    static func audit(_ name: String) -> Table {
        Table(
            name, key: ["entry"],
            [
                "entry": .integer(1...1 << 52), "written_at": .time, "who": .id,
                "deed": .id, "subject": .label(bytes: 0...65_536),
                "changes": .text(bytes: 2...RealmSchema.auditChangesBytesMax),
            ],
            check: { row in
                if let text = try? row.text("changes"), AuditText.changes(text) != nil {
                    return nil
                }
                return BrokenRule("changes", "a list of fields with old and new values, in JSON")
            })
    }
}
