// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import SignedData
import StoreWire

/// Options that select a server key whose private half is on this machine.
struct LocalKeyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "The key's id; default: the newest of the realm with its file in the data directory.")
    var key: String?

    @Option(name: .long, help: "The app whose key it is; default: any.")
    var bundleId: String?

    @Option(name: .long, help: "The file with its private half, .p8, if it is elsewhere.")
    var keyFile: String?

    /// Returns the key. Throws a ``Failure`` if the realm does not have it, or the
    /// file is missing.
    func find(_ store: RunningStore) async throws -> LocalServerKey {
        let all = try await store.operatorDoor
            .get("/server-keys", as: ServerKeyList.self).serverKeys
        let usable = all.filter {
            $0.revokedDate == nil && (key == nil || $0.keyId == key)
                && (bundleId == nil || $0.bundleId == bundleId)
        }
        let keys = usable.map { one in
            LocalServerKey(
                keyID: one.keyId, issuerID: one.issuerId, bundleID: one.bundleId,
                path: keyFile.map { URL(fileURLWithPath: $0).path }
                    ?? LocalServerKey.path(of: one.keyId, inData: store.run.data))
        }
        if let found = keys.last(where: { FileManager.default.fileExists(atPath: $0.path) }) {
            if key == nil, Set(keys.map(\.bundleID)).count > 1 {
                Output.complain(
                    "The key is that of \(found.bundleID); name another app with --bundle-id.")
            }
            return found
        }
        guard let key, keys.isEmpty else { throw Self.noFile(keys.last?.path) }
        let isOfficial = ServerKey.looksOfficial(key)
        throw Failure(
            .no, "serverKeyUnknown",
            isOfficial
                ? "`\(key)` looks like a key of the App Store, which opens no store of Shopkeeper."
                : "The realm has no key `\(key)` in use.",
            field: "--key", rule: "a server key that was not revoked",
            remedy: isOfficial
                ? "create a key of the store's own with `key create`"
                : "list the keys with `key list`")
    }

    private static func noFile(_ path: String?) -> Failure {
        Failure(
            .no, "keyFileMissing",
            path.map { "There is no private key in \($0)." }
                ?? "The realm has no server key in use.",
            field: "--key", rule: "a key whose .p8 file is on this machine",
            remedy: "create one with `key create`, or name the file with --key-file")
    }
}

/// A server key with the file of its private half.
struct LocalServerKey: Sendable {
    let keyID: String
    let issuerID: String
    let bundleID: String
    let path: String

    /// Where `serve` and `key create` keep the private half of a key.
    static func path(of keyID: String, inData data: String) -> String {
        data + "/keys/server/\(keyID).p8"
    }

    /// Returns a bearer token for Apple's door, signed with the file's key. Throws a
    /// ``Failure`` if the file cannot be read, or has no key that signs.
    func token(lifetimeSeconds: Int64) throws -> String {
        do {
            return try BearerTokenSigner(
                privateKeyPEM: try pem(), keyID: keyID, issuerID: issuerID,
                bundleID: BundleID(bundleID)
            ).token(now: Live.wallClock.now, lifetimeSeconds: lifetimeSeconds)
        } catch let failure as VerificationFailure {
            throw Failure(
                .input, "keyInvalid", "The key cannot sign: \(failure).", field: path,
                rule: "a P-256 key in PKCS#8 PEM (.p8)", remedy: "create a key again")
        }
    }

    /// Throws a ``Failure`` if the store does not accept what the file's key signs: it may
    /// belong to another key id.
    func prove(at store: RunningStore) async throws {
        let door = DoorClient(base: store.url, key: try token(lifetimeSeconds: 60))
        // No transaction has this id. Another refusal than that of the key proves the key.
        do { _ = try await door.bytes("/inApps/v1/transactions/0") } catch let failure as Failure
            where failure.code == .key
        {
            throw Failure(
                .key, "keyFileWrong",
                "The store does not accept what the key in \(path) signs for \(keyID).",
                field: "--key-file", rule: "the private half of the key \(keyID)",
                remedy: "name the file that `key create` wrote for it, or its id with --key")
        } catch let failure as Failure where failure.code == .no {}
    }

    private func pem() throws -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure(
                .input, "keyUnreadable", "The key file \(path) cannot be read.",
                field: "--key-file", rule: "a P-256 key in PKCS#8 PEM (.p8)",
                remedy: "name the file that `key create` wrote")
        }
        return text
    }
}
