// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import PurchaseKit

/// How an app is started that the customer has chosen a product for.
struct AppLauncherTests {
    private static let launcher = AppLauncher(["/bin/app", "--from", "the store; rm"])

    private func set(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func `what an app has registered is read, as long as nobody else may write it`() throws {
        let place = try temporaryFolder()
        let folder = URL(fileURLWithPath: place.file("device"))
        #expect(AppLauncher.registered(in: folder) == nil)
        try Self.launcher.register(in: folder)
        #expect(AppLauncher.registered(in: folder) == Self.launcher)

        try set(0o777, folder.path)
        #expect(AppLauncher.registered(in: folder) == nil)
        try set(0o700, folder.path)
        let file = folder.appendingPathComponent("launcher.json").path
        try set(0o620, file)
        #expect(AppLauncher.registered(in: folder) == nil)
        try FileManager.default.moveItem(atPath: file, toPath: place.file("elsewhere"))
        try set(0o600, place.file("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: file, withDestinationPath: place.file("elsewhere"))
        #expect(AppLauncher.registered(in: folder) == nil)
    }

    @Test(arguments: [[], ["app"], ["/bin/app", "a\u{0}b"], Array(repeating: "/a", count: 101)])
    func `what cannot be a program and its arguments is not registered`(
        arguments: [String]
    ) throws {
        let folder = URL(fileURLWithPath: try temporaryFolder().file("device"))
        #expect(throws: (any Error).self) { try AppLauncher(arguments).register(in: folder) }
    }
}
