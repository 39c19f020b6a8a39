// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Shop
import SignedData
import Storage
import StoreWire
import Synchronization

/// What a device keeps when its process ends: the disk of all its lives. A
/// class for that reason.
final class Disk: Sendable {
    private let state = Mutex<(files: [String: [UInt8]], isConfirmed: Bool)>(([:], false))
    let claims = Mutex<[String: Life]>([:])
    let lock = NSLock()

    func read(_ name: String) -> [UInt8]? { state.withLock { $0.files[name] } }

    func replace(_ files: [DeviceFile]) {
        state.withLock { state in
            for file in files { state.files[file.name] = file.bytes }
            if Self.entries(state.files["queue.json"]).contains(where: { $0.state == "confirmed" })
            {
                state.isConfirmed = true
            }
        }
    }

    /// A disk that never synced, after its power failed.
    func lose() { state.withLock { $0.files = [:] } }

    /// Whether a payment that the customer had confirmed was ever durable.
    var isConfirmed: Bool { state.withLock { $0.isConfirmed } }

    struct Entry: Decodable {
        struct Sold: Decodable { var transactionID: String }
        var state: String
        var sold: Sold?
    }

    var entries: [Entry] { Self.entries(read("queue.json")) }

    private static func entries(_ bytes: [UInt8]?) -> [Entry] {
        struct Queue: Decodable { var entries: [Entry] }
        return bytes.flatMap { try? JSONDecoder().decode(Queue.self, from: Data($0)).entries } ?? []
    }
}

/// One life's view of the disk. A cut here kills the app.
struct CutFiles: DeviceFiles {
    let disk: Disk
    let life: Life
    let tape: Tape
    let bell: Bell

    func read(_ name: String) throws -> [UInt8]? {
        try step("files.read") { disk.read(name) }
    }

    func replace(_ files: [DeviceFile]) throws {
        try step("files.replace") { disk.replace(files) }
    }

    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try step("files.lock") {
            disk.lock.lock()
            defer { disk.lock.unlock() }
            return try body()
        }
    }

    func claim(launch: String) throws {
        try step("files.claim") { disk.claims.withLock { $0[launch] = life } }
    }

    func release(launch: String) { disk.claims.withLock { $0[launch] = nil } }
    func isClaimed(launch: String) -> Bool {
        disk.claims.withLock { $0[launch]?.isAlive ?? false }
    }
    func url(of name: String) -> URL? { nil }

    private func step<Answer>(_ name: String, _ body: () throws -> Answer) throws -> Answer {
        guard life.isAlive else { throw Life.Ended() }
        defer { bell.ring() }
        let side = tape.enter(name)
        if side == .before {
            life.kill()
            throw Life.Ended()
        }
        let answer = try body()
        if side == .after { life.kill() }
        guard life.isAlive else { throw Life.Ended() }
        return answer
    }
}

/// Confirms everything. A cut here kills the app with the sheet open, or
/// just as it closes.
struct CutSheet: PaymentSheet {
    let life: Life
    let tape: Tape
    let bell: Bell

    func present(_ contents: SheetContents) async -> SheetAnswer {
        defer { bell.ring() }
        if tape.enter("sheet.present") != nil { life.kill() }
        return .confirm
    }

    func notify(_ sentence: String) async {}
}

/// A database that outlives the stores which open it. A cut here kills the store.
struct CutStorage: Storage {
    let name: String
    let base: any Storage
    let life: Life
    let tape: Tape

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await step("read") { try await base.read(body) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await step("write") { try await base.write(body) }
    }

    func close() async throws {}

    private func step<Answer>(
        _ verb: String, _ body: () async throws -> Answer
    ) async throws -> Answer {
        guard life.isAlive else { throw dead }
        let side = tape.enter("\(name).\(verb)")
        if side == .before { life.kill() }
        guard life.isAlive else { throw dead }
        let answer = try await body()
        if side == .after { life.kill() }
        guard life.isAlive else { throw dead }
        return answer
    }

    private var dead: StorageFault { StorageFault(.unavailable, "the store was killed") }
}

/// The store's keys. A cut here kills the store.
struct CutKeys: KeyStore {
    let base: any KeyStore
    let life: Life
    let tape: Tape

    func read(_ name: String) async throws -> [UInt8]? {
        try await step("keys.read") { try await base.read(name) }
    }

    func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8] {
        try await step("keys.store") { try await base.store(bytes, as: name) }
    }

    func replace(_ bytes: [UInt8], as name: String) async throws {
        try await step("keys.replace") { try await base.replace(bytes, as: name) }
    }

    func names() async throws -> [String] { try await base.names() }

    func authority(of files: [String: [UInt8]]) throws -> CertificateAuthority {
        try base.authority(of: files)
    }

    private func step<Answer>(
        _ name: String, _ body: () async throws -> Answer
    ) async throws -> Answer {
        let side = tape.enter(name)
        if side == .before { life.kill() }
        guard life.isAlive else { throw Life.Ended() }
        let answer = try await body()
        if side == .after { life.kill() }
        guard life.isAlive else { throw Life.Ended() }
        return answer
    }
}
