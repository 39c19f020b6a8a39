// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Crypto
import Foundation
import PurchaseKit
import StoreWire
import Synchronization

/// The hosted content of a fake store, and what happens to each transfer of it.
final class ContentShelf: Sendable {
    enum Fate: Sendable {
        /// The connection ends after so many bytes.
        case cut(after: Int)
        /// The connection stands still after so many bytes.
        case hold(after: Int)
        /// One byte is another.
        case corrupt
        /// The range is ignored.
        case whole
        /// There are more bytes than there should be.
        case tooMany
        case status(Int)
    }

    struct State {
        var product = "level.two"
        var packages: [String: [UInt8]] = [:]
        var newest = "1"
        var fates: [Fate] = []
        var refusal: (Int, WireError)?
        /// Where each transfer began, and the versions that links were asked for.
        var fetches: [Int64] = []
        var asked: [String?] = []
    }

    let state = Mutex(State())

    /// Makes a package of the version and shows it to customers.
    func upload(_ version: String, product: String = "level.two", in folder: String) throws {
        let package = folder + "/package-\(version)"
        let info = """
            <plist version="1.0"><dict><key>ContentVersion</key><string>\(version)</string>
            <key>IAPProductIdentifier</key><string>\(product)</string></dict></plist>
            """
        try FileManager.default.createDirectory(
            atPath: package + "/Contents", withIntermediateDirectories: true)
        try Data(info.utf8).write(to: URL(fileURLWithPath: package + "/ContentInfo.plist"))
        // Of no shorter form.
        var seed: UInt32 = 7
        let noise = (0..<20_000).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: seed >> 24)
        }
        try Data(noise).write(to: URL(fileURLWithPath: package + "/Contents/noise"))
        try Data("map \(version)".utf8)
            .write(to: URL(fileURLWithPath: package + "/Contents/map.txt"))
        _ = try ContentPackage.pack(folder: package, to: package + ".zip")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: package + ".zip"))
        state.withLock { state in
            state.packages[version] = Array(bytes)
            state.newest = version
        }
    }

    func next(_ fates: Fate...) { state.withLock { $0.fates += fates } }

    var fetches: [Int64] { state.withLock { $0.fetches } }

    /// What products and transactions show.
    var description: ContentDescription? {
        state.withLock { state in
            state.packages[state.newest].map {
                ContentDescription(
                    version: state.newest, length: Int64($0.count), sha256: Self.digest($0))
            }
        }
    }

    func link(_ call: DeviceCall) -> (Int, any Encodable & Sendable) {
        let asked = try? JSONDecoder().decode(ContentRequest.self, from: Data(call.body ?? []))
        return state.withLock { state in
            state.asked.append(asked?.version)
            if let refusal = state.refusal { return refusal }
            let version = asked?.version.flatMap { state.packages[$0] == nil ? nil : $0 }
            let bytes = state.packages[version ?? state.newest] ?? []
            return (
                200,
                ContentLink(
                    productId: state.product, version: version ?? state.newest,
                    length: Int64(bytes.count), sha256: Self.digest(bytes),
                    url: "/content/v1/\(version ?? state.newest)",
                    expiresDate: Timestamp(milliseconds: 0))
            )
        }
    }

    func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        let version = fetch.url.split(separator: "/").last.map(String.init) ?? ""
        let (bytes, fate) = state.withLock { state -> ([UInt8], Fate?) in
            state.fetches.append(fetch.from)
            return (
                state.packages[version] ?? [],
                state.fates.isEmpty ? nil : state.fates.removeFirst()
            )
        }
        var from = Int(fetch.from)
        var sent = bytes
        var isCut = false
        switch fate {
        case nil: break
        case .cut(let count), .hold(let count):
            sent = Array(bytes.prefix(count))
            isCut = true
        case .corrupt: sent[bytes.count / 2] ^= 1
        case .whole: from = 0
        case .tooMany: sent += [1, 2, 3]
        case .status(let status): return status
        }
        guard from <= bytes.count else { return 416 }
        guard sink.begin(at: Int64(from)) else { throw .unknown(nil) }
        let isTaken = from >= sent.count || sent[from...].withUnsafeBytes { sink.take($0) }
        if case .hold = fate { await Self.untilCancelled() }
        guard isTaken, !isCut else { throw .unknown(nil) }
        return from == 0 ? 200 : 206
    }

    private static func untilCancelled() async {
        let (stream, _) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
    }

    static func digest(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            .joined()
    }
}
