// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PurchaseKit
public import Shop
public import StoreWire

/// Connects a device to a realm in the same process, with the answers that a
/// server would give.
public struct ShopTransport: StoreTransport {
    private let realm: @Sendable () async throws(TransportFailure) -> Realm
    private let store: (@Sendable () async throws(TransportFailure) -> Store)?
    private let sleep: @Sendable (Duration) async throws -> Void

    /// `realm` is called for each call. `sleep` limits how long a request for
    /// transactions waits. Without `store`, no content can be fetched.
    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        store: (@Sendable () async throws(TransportFailure) -> Store)? = nil,
        realm: @escaping @Sendable () async throws(TransportFailure) -> Realm
    ) {
        self.realm = realm
        self.store = store
        self.sleep = sleep
    }

    public func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        guard let store, let url = URLComponents(string: fetch.url) else {
            throw .notSent(URLError(.unsupportedURL))
        }
        let sha256 = url.path.split(separator: "/").last.map(String.init) ?? ""
        let opened = try await store()
        do {
            let reader = try await opened.openContent(sha256) { name in
                url.queryItems?.first { $0.name == name }?.value
            }
            guard fetch.from < reader.length else { return 416 }
            try await Self.copy(reader, from: fetch.from, into: sink)
            return 206
        } catch is CancellationError {
            throw .unknown(URLError(.cancelled))
        } catch let error as URLError {
            throw .unknown(error)
        } catch {
            return DeviceRoom.reply(to: error).status
        }
    }

    private static let pieceBytes = 64 * 1024

    private static func copy(
        _ reader: any ContentReader, from: Int64, into sink: any ContentSink
    ) async throws {
        guard sink.begin(at: from) else { throw URLError(.cancelled) }
        var offset = from
        while offset < reader.length {
            try Task.checkCancellation()
            let bytes = try await reader.read(at: offset, count: Self.pieceBytes)
            let isTaken = bytes.withUnsafeBytes { sink.take($0) }
            guard !bytes.isEmpty, isTaken else { throw URLError(.networkConnectionLost) }
            offset += Int64(bytes.count)
        }
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let realm = try await realm()
        do {
            return try await realm.devices.answer(
                call, RequestContext(requestID: call.requestID), sleep: sleep)
        } catch is CancellationError {
            throw .unknown(URLError(.cancelled))
        } catch {
            return DeviceRoom.reply(to: error)
        }
    }
}
