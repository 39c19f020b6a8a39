// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

@testable import PurchaseKit

/// What a power failure does to what was not synced.
enum Loss: Hashable, Sendable {
    /// All of it is lost.
    case all
    /// New bytes are lost, new names are not.
    case bytes
    /// Of each folder's names only the change made last is there.
    case lastName
    /// Each byte is there, and a renamed file has both its names.
    case oldNames
    /// Each thing as the lot falls.
    case some(UInt64)
}

/// A disk below a folder, which acts on the real one, notes what was synced,
/// and whose power fails before a numbered operation. Then it leaves what a
/// disk may leave that promises no more than ``DeviceDisk`` says. A class with
/// a lock: one disk under all devices on it.
final class DurableFolder: DeviceDisk {
    fileprivate struct File {
        var bytes: [UInt8]
        var durable: [UInt8]?
    }

    fileprivate enum Node: Hashable {
        case folder
        case file(Int)
    }

    /// Names that change together, and what each stands for from now on; nil
    /// where it is gone.
    fileprivate typealias NameChange = [(path: String, node: Node?)]

    fileprivate struct State {
        var operations = 0
        var limit: Int?
        var onFailure: @Sendable () -> Void = {}
        var lastRenamed = ""
        var files: [File] = []
        /// Names as running programs see them, and as the disk holds them.
        var names: [String: Node] = [:]
        var durable: [String: Node] = [:]
        /// Changes of names that were not synced, by folder, in order.
        var changes: [String: [NameChange]] = [:]
    }

    let root: String
    private let skips: @Sendable (_ folder: String, _ renamed: String) -> Bool
    private let state = Mutex(State())

    /// The power fails before operation number `limit`, the first being 0.
    /// `skips` says which syncs of folders are left out, by the folder and by
    /// what was renamed last: for a device that forgets them.
    init(
        root: String, failing limit: Int? = nil,
        skips: @escaping @Sendable (_ folder: String, _ renamed: String) -> Bool = { _, _ in false }
    ) {
        self.root = root
        self.skips = skips
        state.withLock { $0.limit = limit }
    }

    var operations: Int { state.withLock { $0.operations } }

    /// The power fails once more, after so many more operations.
    func fail(after count: Int) { state.withLock { $0.limit = $0.operations + count } }

    var hasFailed: Bool {
        state.withLock { state in state.limit.map { state.operations >= $0 } ?? false }
    }

    /// Called whenever somebody finds no power.
    func onFailure(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onFailure = body }
    }

    /// Whether there is power; tells of it where there is none.
    func hasPower() -> Bool {
        if hasFailed { state.withLock { $0.onFailure }() }
        return !hasFailed
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    func makeFolder(_ path: String) throws(DeviceFilesFault) {
        try step { state throws(DeviceFilesFault) in
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw DeviceFilesFault(system: "make the folder \(path)")
            }
            guard state.names[path] == nil else { return }
            state.name([(path, .folder)])
        }
    }

    func write(_ bytes: [UInt8], to path: String) throws(DeviceFilesFault) {
        try step { state throws(DeviceFilesFault) in
            try put([], path)
            state.files.append(File(bytes: []))
            state.name([(path, .file(state.files.count - 1))])
        }
        try step { state throws(DeviceFilesFault) in
            try put(bytes, path)
            state.change(path) { $0.bytes = bytes }
        }
        try step { state throws(DeviceFilesFault) in
            state.change(path) { $0.durable = $0.bytes }
        }
    }

    func rename(_ path: String, to other: String) throws(DeviceFilesFault) {
        try step { state throws(DeviceFilesFault) in
            guard Foundation.rename(path, other) == 0 else {
                throw DeviceFilesFault(system: "rename a file to \(other)")
            }
            state.name([(other, state.names[path]), (path, nil)])
            state.lastRenamed = other
        }
    }

    func syncFolder(_ path: String) throws(DeviceFilesFault) {
        // What lies above the root was there before the tests.
        guard path.hasPrefix(root) else { return }
        try step { state throws(DeviceFilesFault) in
            if self.skips(path, state.lastRenamed) { return }
            for change in state.changes.removeValue(forKey: path) ?? [] {
                for (path, node) in change { state.durable[path] = node }
            }
        }
    }

    /// One operation, unless the power has failed.
    private func step(
        _ body: (inout State) throws(DeviceFilesFault) -> Void
    ) throws(DeviceFilesFault) {
        let outcome = state.withLock { state -> Result<Bool, DeviceFilesFault> in
            if let limit = state.limit, state.operations >= limit { return .success(false) }
            state.operations += 1
            do throws(DeviceFilesFault) {
                try body(&state)
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        guard try outcome.get() else {
            _ = hasPower()
            throw DeviceFilesFault("the power failed", errorNumber: EIO)
        }
    }

    /// Settles one way after the other, each from the same failure, and looks
    /// at what is left.
    func settle(each losses: [Loss], _ look: (Loss) throws -> Void) throws {
        let failed = state.withLock { $0 }
        for loss in losses {
            state.withLock { $0 = failed }
            try settle(loss)
            try look(loss)
        }
    }

    /// With every device closed: leaves below the root what the power failure
    /// left, and a disk that works.
    func settle(_ loss: Loss) throws {
        let (names, files) = state.withLock { state in
            var lot = SeededGenerator(if: loss)
            state.lose(loss, under: root, &lot)
            state.limit = nil
            return (state.names, state.files)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: root) {
            try FileManager.default.removeItem(atPath: root + "/" + name)
        }
        // A folder sorts before what it holds.
        for (path, node) in names.sorted(by: { $0.key < $1.key }) {
            switch node {
            case .folder: mkdir(path, 0o700)
            case .file(let number): try put(files[number].bytes, path)
            }
        }
    }
}

extension DurableFolder.State {
    mutating func name(_ names: DurableFolder.NameChange) {
        let folder = (names[0].path as NSString).deletingLastPathComponent
        changes[folder, default: []].append(names)
        for (path, node) in names { self.names[path] = node }
    }

    mutating func change(_ path: String, _ body: (inout DurableFolder.File) -> Void) {
        guard case .file(let number) = names[path] else { return }
        body(&files[number])
    }

    mutating func lose(_ loss: Loss, under root: String, _ lot: inout SeededGenerator) {
        for folder in changes.keys.sorted() {
            let count = changes[folder]?.count ?? 0
            for (place, change) in (changes[folder] ?? []).enumerated() {
                let kept = change.filter { name in
                    switch loss {
                    case .all: false
                    case .bytes: true
                    case .lastName: place == count - 1
                    case .oldNames: name.node != nil
                    case .some: lot.integer(in: 0...2) > 0
                    }
                }
                for (path, node) in kept { durable[path] = node }
            }
        }
        changes = [:]
        // Where a folder's name is lost, what it holds is lost with it.
        names = durable.filter { path, _ in
            var folder = (path as NSString).deletingLastPathComponent
            while folder != root {
                guard durable[folder] != nil else { return false }
                folder = (folder as NSString).deletingLastPathComponent
            }
            return true
        }
        durable = names
        for number in files.indices { files[number].settle(loss, &lot) }
    }
}

extension DurableFolder.File {
    mutating func settle(_ loss: Loss, _ lot: inout SeededGenerator) {
        guard durable != bytes else { return }
        switch loss {
        case .all, .bytes: bytes = durable ?? []
        case .lastName, .oldNames: break
        case .some: bytes = Array(bytes.prefix(lot.integer(in: 0...bytes.count)))
        }
        durable = bytes
    }
}

/// Without a sync, which is only noted.
private func put(_ bytes: [UInt8], _ path: String) throws(DeviceFilesFault) {
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
        throw DeviceFilesFault(system: "write \(path)")
    }
}

extension SeededGenerator {
    fileprivate init(if loss: Loss) {
        if case .some(let seed) = loss { self.init(seed) } else { self.init(0) }
    }
}
