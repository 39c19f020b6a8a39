// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Storage
public import StoreWire

/// The end of an upload, and of a version.
extension ContentRoom {
    /// Completes an upload: checks its digest and the package, makes its bytes durable,
    /// and then makes the version ready. A check that takes longer than a request goes
    /// on; the answer then has the state `processing`, and the request is to be
    /// repeated. Refusals, in order: `contentVersionInvalid`, `contentNotHosted`,
    /// `contentUnknown`, `contentVersionRemoved`, `contentIncomplete`, `contentBusy`,
    /// `contentCorrupt`, `contentInvalid`. After the last two the upload is removed.
    public func complete(
        _ version: String, product: String, bundleID: String, _ context: RequestContext
    ) async throws -> ContentRecord {
        let key = try ContentKey(bundleID, product, version)
        let files = try files()
        let row = try await row(key)
        let upload = upload(row)
        guard row.state != .removed else { throw Self.removed }
        if row.state == .ready, try await has(row, files) { return row.record }
        let task = realm.contentChecks.task(upload.name) {
            try await check(row, upload, files, context)
        }
        let sleep = realm.ports.sleep
        let isEnded = await ContentChecks.isEnded(task) {
            try await sleep(.seconds(Self.checkWaitSeconds))
        }
        guard isEnded else {
            var record = row.record
            record.received = row.length
            return record
        }
        realm.contentChecks.forget(upload.name)
        try await task.value
        return try await record(try await self.row(key))
    }

    private func check(
        _ row: ContentRow, _ upload: ContentUpload, _ files: any ContentFiles,
        _ context: RequestContext
    ) async throws {
        let key = row.key
        let kept: ContentKeeping
        do {
            kept = try await files.keep(upload) { try Self.checkPackage($0, key) }
        } catch let refusal as Refusal {
            if row.state == .processing { try await drop(row, context) }
            throw refusal
        }
        switch kept {
        case .kept: try await makeReady(row, context)
        case .busy: throw Self.busy
        case .incomplete(let received):
            throw Refusal(
                .conflict, code: "contentIncomplete",
                "The store has \(received) of \(row.length) bytes.", field: "version",
                rule: "an upload is completed after its last piece",
                remedy: "continue at \(received)")
        case .corrupt:
            if row.state == .processing { try await drop(row, context) }
            throw Refusal(
                .badRequest, code: "contentCorrupt",
                "The bytes that arrived have another SHA-256 than was announced.",
                field: "sha256", rule: row.sha256,
                remedy: "upload the package again from its beginning")
        }
    }

    /// Refusal: `contentInvalid`.
    private static func checkPackage(_ path: String, _ key: ContentKey) throws {
        let info: ContentInfo
        do throws(ContentFault) {
            info = try ContentPackage.check(zip: path).info
        } catch  where [.file, .diskFull, .cancelled].contains(error.code) {
            // Nothing is known about the package.
            throw StorageFault(.unavailable, "the package cannot be checked: \(error.sentence)")
        } catch {
            throw invalid(
                (error.entry.map { "The entry `\(VisibleText.line($0))`: " } ?? "")
                    + error.sentence)
        }
        guard info.productId == key.productID else {
            throw invalid(
                "ContentInfo.plist names the product `\(VisibleText.line(info.productId))`, "
                    + "and the upload is for `\(key.productID)`.")
        }
        guard info.version == key.version else {
            throw invalid(
                "ContentInfo.plist has the version \(VisibleText.line(info.version)), and the "
                    + "upload is of \(key.version).")
        }
    }

    private static func invalid(_ sentence: String) -> Refusal {
        Refusal(
            .badRequest, code: "contentInvalid", sentence, field: "body",
            rule: "a package as docs/OPERATING.md describes it",
            remedy: "see `shopkeeper content check`, mend the package and upload it again")
    }

    /// Nothing is written if another process was first.
    private func makeReady(_ row: ContentRow, _ context: RequestContext) async throws {
        guard row.state == .processing else { return }
        let wall = realm.ports.wall.now
        let values = row.key.values + [.text(row.sha256), .optional(wall)]
        let isReady = try await realm.house(.catalogue, context) { house in
            guard try house.writing.first(Statement.Contents.makeReady, values) != nil else {
                return .leave(false)
            }
            try house.audit(
                "content.complete", row.key.subject, before: row.audited(),
                after: row.audited(.ready))
            return .commit(true)
        }
        guard isReady else { return }
        realm.ports.log(
            .info, "content ready", context,
            ["content": row.key.subject, "bytes": "\(row.length)"])
    }

    /// Removes an upload's row.
    func drop(_ row: ContentRow, _ context: RequestContext) async throws {
        let values = row.key.values + [.text(row.sha256)]
        try await realm.house(.rows, context) { house in
            guard try house.writing.first(Statement.Contents.drop, values) != nil else {
                return .leave(())
            }
            try house.audit(
                "content.drop", row.key.subject, before: row.audited(), after: nil)
            return .commit(())
        }
    }

    /// Removes a version: it is not delivered any more, and its number is not used
    /// again. An upload that is not complete is deleted. A version that was removed
    /// stays so. Refusals: `contentVersionInvalid`, `contentNotHosted`, `contentUnknown`.
    public func remove(
        _ version: String, product: String, bundleID: String, _ context: RequestContext
    ) async throws {
        let key = try ContentKey(bundleID, product, version)
        let files = try files()
        let row = try await row(key)
        switch row.state {
        case .removed: return
        case .processing:
            realm.contentChecks.forget(upload(row).name)
            try await drop(row, context)
            try await files.discard(upload(row))
        case .ready:
            let values = key.values + [.optional(realm.ports.wall.now)]
            try await realm.house(.catalogue, context) { house in
                guard try house.writing.first(Statement.Contents.remove, values) != nil else {
                    return .leave(())
                }
                try house.audit(
                    "content.remove", key.subject, before: row.audited(),
                    after: row.audited(.removed))
                return .commit(())
            }
        }
    }

    private static let removed = Refusal(
        .conflict, code: "contentVersionRemoved", "This version was removed.", field: "version",
        rule: "what was removed stays removed",
        remedy: "give the package a higher ContentVersion")

    /// Returns an app's versions, or a product's. Refusals: `textInvalid`,
    /// `bundleIdUnknown`, `cursorInvalid`, `contentNotHosted`.
    public func list(
        bundleID: String, product: String? = nil, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> ContentRecords {
        let files = try files()
        _ = try await realm.catalogue.app(bundleID)
        if let product { try Edge.text(product, "productId") }
        let start = try after.map(Self.place) ?? ("", "")
        let values: [SQLValue] = [
            .text(bundleID), .optional(product), .text(start.0), .text(start.1),
            .integer(ListPage.limit(limit)),
        ]
        let rows = try await realm.readHouse {
            try $0.query(Statement.Contents.page, values).map(ContentRow.init(row:))
        }
        var records: [ContentRecord] = []
        for row in rows {
            var record = row.record
            if row.state == .ready, try await !has(row, files) { record.isMissing = true }
            records.append(record)
        }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return ContentRecords(
            content: records,
            next: isFull ? rows.last.map { "\($0.key.productID)/\($0.key.version)" } : nil)
    }

    private static func place(_ text: String) throws -> (String, String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, IDText.isID(parts[0]), ContentVersion(parts[1]) != nil else {
            throw ListPage.cursorInvalid("after")
        }
        return (parts[0], parts[1])
    }
}
