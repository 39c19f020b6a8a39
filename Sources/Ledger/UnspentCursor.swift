// SPDX-License-Identifier: Apache-2.0

import Storage

/// The end of a page of unspent purchases: the revision of the last purchase
/// and its key. The key is needed because one commit may write more purchases
/// than a page holds.
struct UnspentCursor {
    let revision: Int64
    let transactionID: String
    let root: String
    let bundleID: String

    static let start = UnspentCursor(revision: 0, transactionID: "", root: "", bundleID: "")

    private init(revision: Int64, transactionID: String, root: String, bundleID: String) {
        self.revision = revision
        self.transactionID = transactionID
        self.root = root
        self.bundleID = bundleID
    }

    init(_ last: BookedPurchase) {
        self.init(
            revision: last.revision, transactionID: last.key.transactionID, root: last.key.root,
            bundleID: last.key.bundleID)
    }

    /// Parses ``text``. The bundle id is last, because it may contain dots.
    init(_ text: String) throws(LedgerRefusal) {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 4, text.utf8.count <= 1024, !text.utf8.contains(0),
            let revision = Int64(parts[0]), revision >= 0
        else {
            throw LedgerRefusal(
                .badRequest, code: "cursorInvalid", "This is not the end of a page.",
                field: "after", rule: "the `next` of an earlier answer",
                remedy: "leave it out to start from the first page")
        }
        self.init(
            revision: revision, transactionID: parts[1], root: parts[2], bundleID: parts[3])
    }

    var text: String { "\(revision).\(transactionID).\(root).\(bundleID)" }

    var values: [SQLValue] {
        [.integer(revision), .text(transactionID), .text(root), .text(bundleID)]
    }
}
