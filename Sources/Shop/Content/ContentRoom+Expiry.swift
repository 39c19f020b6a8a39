// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// Uploads that nobody continues.
extension ContentRoom {
    /// Deletes the bytes of uploads whose last piece came long ago, and then the rows of
    /// those that have no bytes. Packages are never deleted. Returns how many rows.
    func expireUploads(batch: Int = CommitSize.subjectsMax) async throws -> Int {
        guard let files = realm.ports.content else { return 0 }
        let context = RequestContext(requestID: "prune", actor: "server")
        let limit = realm.ports.wall.now.adding(seconds: -Self.uploadKeptSeconds)
        _ = try await files.sweep(before: limit)
        let values: [SQLValue] = [.integer(limit.milliseconds), .integer(Int64(batch))]
        let old = try await realm.readHouse {
            try $0.query(Statement.Contents.oldUploads, values).map(ContentRow.init(row:))
        }
        var count = 0
        for row in old where try await files.received(upload(row)) == 0 {
            try await drop(row, context)
            count += 1
        }
        return count
    }
}
