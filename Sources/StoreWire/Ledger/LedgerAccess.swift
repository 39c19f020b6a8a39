// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Creates a key to a ledger: `POST /ledger/v1/api-keys`.
public struct CreateLedgerKeyRequest: Hashable, Sendable, Codable {
    /// What it is for, for people.
    public let name: String
    /// `app` or `server`.
    public let scope: String

    public init(name: String, scope: String) {
        self.name = name
        self.scope = scope
    }
}

/// A new key. Its text is shown here only.
public struct CreatedLedgerKey: Hashable, Sendable, Codable {
    public let keyId: String
    public let name: String
    public let scope: String
    /// The secret, to be sent as `Authorization: Bearer`.
    public let key: String
    public let createdDate: Timestamp

    public init(keyId: String, name: String, scope: String, key: String, createdDate: Timestamp) {
        self.keyId = keyId
        self.name = name
        self.scope = scope
        self.key = key
        self.createdDate = createdDate
    }
}

/// A key without its secret.
public struct LedgerKeyRecord: Hashable, Sendable, Codable {
    public let keyId: String
    public let name: String
    public let scope: String
    public let createdDate: Timestamp
    /// Absent while it is valid.
    public let revokedDate: Timestamp?

    public init(
        keyId: String, name: String, scope: String, createdDate: Timestamp,
        revokedDate: Timestamp?
    ) {
        self.keyId = keyId
        self.name = name
        self.scope = scope
        self.createdDate = createdDate
        self.revokedDate = revokedDate
    }
}

/// All keys, the oldest first: `GET /ledger/v1/api-keys`.
public struct LedgerKeys: Hashable, Sendable, Codable {
    public let keys: [LedgerKeyRecord]

    public init(keys: [LedgerKeyRecord]) { self.keys = keys }
}

/// A change that was made through a server key or a command.
public struct LedgerAuditEntry: Hashable, Sendable, Codable {
    public let date: Timestamp
    /// `command`, or `key`, its id and its name.
    public let actor: String
    public let action: String
    public let account: String?
    /// What was changed, such as a transaction or an idempotency key.
    public let subject: String?

    public init(
        date: Timestamp, actor: String, action: String, account: String?, subject: String?
    ) {
        self.date = date
        self.actor = actor
        self.action = action
        self.account = account
        self.subject = subject
    }
}

/// A page of the audit, the newest first: `GET /ledger/v1/audit`.
public struct LedgerAudit: Hashable, Sendable, Codable {
    public let entries: [LedgerAuditEntry]
    /// The `after` of the next page's request. Absent on the last page.
    public let next: String?

    public init(entries: [LedgerAuditEntry], next: String?) {
        self.entries = entries
        self.next = next
    }
}

/// Asks for a token of an account: `POST /ledger/v1/accounts/{account}/tokens`.
public struct AccountTokenRequest: Hashable, Sendable, Codable {
    /// How long it is valid: 1 to 3,600. Absent for 900.
    public let seconds: Int?

    public init(seconds: Int? = nil) { self.seconds = seconds }
}

/// A token that proves an account to the ledger for a short time.
public struct IssuedAccountToken: Hashable, Sendable, Codable {
    public let account: String
    /// To be sent as `Account-Token`.
    public let token: String
    public let expiresDate: Timestamp

    public init(account: String, token: String, expiresDate: Timestamp) {
        self.account = account
        self.token = token
        self.expiresDate = expiresDate
    }
}
