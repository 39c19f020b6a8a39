// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import StrictJSON

/// What a reading of a store's notification history came to.
struct GapReport: Hashable, Sendable {
    /// The number of notifications in the pages that were read.
    var read = 0
    /// Those that could not be taken, such as another app's.
    var refused = 0
    /// Whether the history was read to its end.
    var isComplete = false
    /// Why it was not.
    var trouble: String?
}

/// The reading of a store's notification history for one app, as far as it is done.
struct NewsCursor: Hashable, Sendable {
    /// Notifications signed that long before the cursor are read again, because the
    /// history does not promise to list them in the order of their dates.
    static let overlapMilliseconds: Int64 = 3_600_000
    /// Apple keeps them for 180 days. A day less, because clocks differ.
    static let historyMilliseconds: Int64 = 179 * 86_400_000
    /// The pause between two readings.
    static let pauseMilliseconds: Int64 = 300_000
    /// The most pages of one reading. The next one goes on.
    static let pagesMax = 500
    /// How often the first date is moved, if the store's clock differs.
    static let movesMax = 60
    static let moveMilliseconds: Int64 = 170 * 86_400_000

    let key: [SQLValue]
    let fence: Int64
    let readThrough: Timestamp
    var from: Timestamp
    var seen: Timestamp?
    var token: String?

    init(_ row: Row, isProduction: Bool, wall: Timestamp) throws {
        key = [
            .text(try row.text("root")), .text(try row.text("environment")),
            .text(try row.text("bundle_id")),
        ]
        fence = try row.integer("fence")
        readThrough = Timestamp(milliseconds: try row.integer("read_through"))
        token = try row.optionalText("page_token")
        seen = try row.optionalInteger("sweep_seen").map(Timestamp.init(milliseconds:))
        if let begun = try row.optionalInteger("sweep_from"), token != nil {
            from = Timestamp(milliseconds: begun)
        } else {
            let start = readThrough.adding(milliseconds: -Self.overlapMilliseconds)
            let oldest = wall.adding(milliseconds: -Self.historyMilliseconds)
            from = isProduction ? max(start, oldest) : start
        }
    }

    mutating func note(_ signedAt: Timestamp?) {
        guard let signedAt else { return }
        seen = max(seen ?? signedAt, signedAt)
    }

    /// Begins again without the pages that were read.
    mutating func restart(from instant: Timestamp) {
        (from, token) = (instant, nil)
    }

    /// The values of `turn`.
    func page(at now: Timestamp) -> [SQLValue] {
        key + [
            .integer(fence), .integer(now.milliseconds), .integer(from.milliseconds),
            .optional(seen?.milliseconds), .optional(token),
        ]
    }

    /// The values of `end`.
    var end: [SQLValue] {
        let through = max(readThrough, seen ?? readThrough)
        return key + [.integer(fence), .integer(through.milliseconds)]
    }
}

extension Ledger {
    /// Reads the notification history of every store since the last time, and takes
    /// what was missed. `isStart`: now, however short the last reading was ago.
    func fillGaps(isStart: Bool = false) async throws -> [GapReport] {
        guard let client else { return [] }
        var reports: [GapReport] = []
        for place in client.places {
            guard var cursor = try await begin(place, isStart: isStart) else { continue }
            var report = GapReport()
            do {
                try await read(client, place, &cursor, &report)
            } catch let trouble as StoreTrouble {
                report.trouble = trouble.reason
            } catch let rejection as StoreClient.Rejection {
                report.trouble = "the store answered with \(rejection.status)"
            } catch let refusal as LedgerRefusal {
                report.trouble = refusal.error.code
            }
            tell(report, place)
            reports.append(report)
        }
        return reports
    }

    /// Nil if the history was read a short time ago, or another process reads it.
    private func begin(
        _ place: StoreClient.Place, isStart: Bool
    ) async throws -> NewsCursor? {
        let now = ports.wall.now
        let key = place.key
        // A clock that was set back does not stop the readings.
        let latest = isStart ? .max : now.milliseconds - NewsCursor.pauseMilliseconds
        let row = try await storage.write { writing -> Row? in
            let newest = try writing.first(Statement.News.newest, key)?
                .optionalInteger("signed_at")
            // By the store's own time, if that is known.
            let first = (newest ?? now.milliseconds) - NewsCursor.historyMilliseconds
            try writing.execute(
                Statement.News.insertCursor,
                LedgerSchema.newsCursors.row([
                    "root": key[0], "environment": key[1], "bundle_id": key[2],
                    "read_through": .integer(first), "begun_at": .integer(0),
                    "fence": .integer(0),
                ]))
            return try writing.first(
                Statement.News.begin,
                key + [.integer(now.milliseconds), .integer(latest)])
        }
        return try row.map {
            try NewsCursor($0, isProduction: place.environment == .production, wall: now)
        }
    }

    private func read(
        _ client: StoreClient, _ place: StoreClient.Place, _ cursor: inout NewsCursor,
        _ report: inout GapReport
    ) async throws {
        var (pages, moves) = (0, 0)
        while pages < NewsCursor.pagesMax {
            try Task.checkCancellation()
            let page: NotificationHistoryResponse
            do { page = try await ask(client, place, cursor) } catch let rejection
                as StoreClient.Rejection
            {
                guard moves < NewsCursor.movesMax,
                    let from = Self.start(after: rejection, cursor, ports.wall.now)
                else { throw rejection }
                moves += 1
                cursor.restart(from: from)
                continue
            }
            pages += 1
            for item in page.notificationHistory ?? [] {
                guard let payload = item.signedPayload else { continue }
                try await hear(payload, in: &cursor, &report)
            }
            guard page.hasMore == true, let token = page.paginationToken, !token.isEmpty,
                token != cursor.token
            else {
                let end = cursor.end
                let row = try await storage.write { try $0.first(Statement.News.end, end) }
                report.isComplete = row != nil
                return
            }
            cursor.token = token
            let turn = cursor.page(at: ports.wall.now)
            // Another process reads now.
            guard try await storage.write({ try $0.first(Statement.News.turn, turn) }) != nil
            else { return }
        }
    }

    private func hear(
        _ payload: String, in cursor: inout NewsCursor, _ report: inout GapReport
    ) async throws {
        report.read += 1
        do {
            let (proven, _) = try await hear(payload, isFromHistory: true)
            cursor.note(proven.said.signedDate)
        } catch let refusal as LedgerRefusal where refusal.kind != .unavailable {
            report.refused += 1
        }
    }

    private func ask(
        _ client: StoreClient, _ place: StoreClient.Place, _ cursor: NewsCursor
    ) async throws -> NotificationHistoryResponse {
        let wall = ports.wall.now
        // A later time than the store's own means its present. A sandbox may have any.
        let ahead: Int64 = place.environment == .production ? 1 : 36_500
        var request = NotificationHistoryRequest()
        request.startDate = cursor.from
        request.endDate = max(wall, cursor.from).adding(seconds: ahead * 86_400)
        let query = cursor.token.map { "?paginationToken=\(Self.percentEncoded($0))" } ?? ""
        return try await client.ask(
            place, "POST", "/inApps/v1/notifications/history" + query,
            body: try StrictJSON.encode(request), rule: .patient)
    }

    /// Returns where to begin after a rejection by the store. Nil if that does not
    /// help.
    private static func start(
        after rejection: StoreClient.Rejection, _ cursor: NewsCursor, _ wall: Timestamp
    ) -> Timestamp? {
        switch rejection.code {
        // The start is too far in the past: the store's clock is ahead.
        case 4_000_012: cursor.from.adding(milliseconds: NewsCursor.moveMilliseconds)
        // The start is in the store's future.
        case 4_000_013: cursor.from.adding(milliseconds: -NewsCursor.moveMilliseconds)
        // The page's token is not valid any more.
        case 4_000_014, 4_000_017: cursor.token == nil ? nil : cursor.from
        default: nil
        }
    }

    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                String(decoding: [byte], as: UTF8.self)
            default: "%" + hexadecimal([byte]).uppercased()
            }
        }.joined()
    }

    private func tell(_ report: GapReport, _ place: StoreClient.Place) {
        var facts = [
            "bundleId": place.bundleID.value, "environment": place.environment.rawValue,
            "read": "\(report.read)", "refused": "\(report.refused)",
        ]
        facts["trouble"] = report.trouble
        ports.log(
            report.isComplete
                ? "read the notification history" : "the notification history was not read",
            facts)
    }
}
