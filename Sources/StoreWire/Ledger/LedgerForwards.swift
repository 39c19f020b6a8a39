// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The copies of notifications that a ledger still owes a URL.
public struct ForwardReport: Hashable, Sendable, Codable {
    public let url: String
    /// The number of copies that will be sent.
    public let waiting: Int
    /// The number of copies that failed for three days and are not sent any more.
    public let parked: Int
    /// When the oldest of them came in.
    public let oldestDate: Timestamp
    /// Why an attempt failed. Absent if none has.
    public let trouble: String?

    public init(url: String, waiting: Int, parked: Int, oldestDate: Timestamp, trouble: String?) {
        self.url = url
        self.waiting = waiting
        self.parked = parked
        self.oldestDate = oldestDate
        self.trouble = trouble
    }
}

/// The copies that are owed: `GET /ledger/v1/forwards`. A URL to which nothing is owed
/// is not listed.
public struct ForwardReports: Hashable, Sendable, Codable {
    public let forwards: [ForwardReport]

    public init(forwards: [ForwardReport]) { self.forwards = forwards }
}

/// Sends parked copies again: `POST /ledger/v1/forwards/unpark`.
public struct UnparkRequest: Hashable, Sendable, Codable {
    public let url: String

    public init(url: String) { self.url = url }
}
