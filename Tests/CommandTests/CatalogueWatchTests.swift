// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import shopkeeper

/// A served file that changes, with the waiting taken out.
@Suite(.timeLimit(.minutes(5))) struct CatalogueWatchTests {
    private let folder: TemporaryFolder
    private let heard = Heard()

    /// What was applied and told.
    private final class Heard: Sendable {
        private let state = Mutex<(applied: [Int], told: [String])>(([], []))
        var applied: [Int] { state.withLock { $0.applied } }
        var told: [String] { state.withLock { $0.told } }
        func apply(_ count: Int) { state.withLock { $0.applied.append(count) } }
        func tell(_ line: String) { state.withLock { $0.told.append(line) } }
    }

    init() throws {
        folder = try temporaryFolder("watch")
    }

    private var path: String { folder.file("a.storekit") }

    private var watch: CatalogueWatch {
        let heard = heard
        return CatalogueWatch(
            path: path, sleep: { _ in throw CancellationError() },
            apply: { file, _ in
                heard.apply(file.catalogue.products.count)
                return ["+ something"]
            }, tell: { heard.tell($0) })
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func product(_ id: String) -> String {
        #"{"productID": "\#(id)", "type": "Consumable", "displayPrice": "1"}"#
    }

    @Test func `a change is imported once and reported`() async throws {
        try write(#"{"products": []}"#)
        var state = CatalogueState(of: path)
        state = await watch.look(state)
        try write(#"{"products": [\#(product("a")), \#(product("b"))]}"#)

        state = await watch.look(state)
        state = await watch.look(state)

        #expect(heard.applied == [2])
        #expect(heard.told == ["+ something", "\(path): read again, 1 differences"])
    }

    @Test func `a broken file is reported once, and the next good one is imported`() async throws {
        try write(#"{"products": []}"#)
        var state = CatalogueState(of: path)
        try write("{")
        for _ in 0..<3 { state = await watch.look(state) }
        let complaints = heard.told
        try write(#"{"products": [\#(product("a"))]}"#)
        state = await watch.look(state)

        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("not imported, the store is unchanged") == true)
        #expect(heard.applied == [1])
    }

    @Test func `a missing file is reported, and imported when it is back`() async throws {
        try write(#"{"products": []}"#)
        var state = CatalogueState(of: path)
        try FileManager.default.removeItem(atPath: path)
        state = await watch.look(state)
        #expect(heard.told.count == 1 && heard.applied.isEmpty)
        try write(#"{"products": [\#(product("a"))]}"#)
        state = await watch.look(state)

        #expect(heard.applied == [1])
    }

    @Test func `a package's images are watched too`() throws {
        let package = folder.file("b.storekit")
        try FileManager.default.createDirectory(
            atPath: package + "/Assets", withIntermediateDirectories: true)
        let before = CatalogueState(of: package)
        try Data([1]).write(to: URL(fileURLWithPath: package + "/Assets/A1.png"))

        #expect(CatalogueState(of: package) != before)
    }
}
