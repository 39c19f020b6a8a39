// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How an app is started that the customer has chosen a product for while it did not run.
///
/// The app registers it with ``DeviceConfiguration/launcher``. The device's folder keeps
/// it. `shopkeeper promotion open` starts the program directly, without a shell, with
/// exactly these arguments. Nothing of an address is ever among them.
public struct AppLauncher: Hashable, Sendable, Codable {
    /// The most arguments.
    public static let argumentsMax = 100
    private static let name = "launcher.json"
    private static let bytesMax = 65_536

    /// The program's absolute path, and its arguments.
    public var arguments: [String]

    public init(_ arguments: [String]) { self.arguments = arguments }

    /// The launcher that an app has registered in its device folder. Nil without one, and
    /// for a file that another user may write or replace.
    public static func registered(in folder: URL) -> AppLauncher? {
        let home = try? FileManager.default.attributesOfItem(atPath: folder.path)
        guard let access = home?[.posixPermissions] as? Int, access & 0o022 == 0 else { return nil }
        let path = folder.appendingPathComponent(name).path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path),
            facts[.type] as? FileAttributeType == .typeRegular,
            facts[.ownerAccountID] as? Int == Int(getuid()),
            let mode = facts[.posixPermissions] as? Int, mode & 0o022 == 0,
            let size = facts[.size] as? Int, size <= bytesMax,
            let bytes = FileManager.default.contents(atPath: path),
            let launcher = try? JSONDecoder().decode(AppLauncher.self, from: bytes),
            launcher.isUsable
        else { return nil }
        return launcher
    }

    /// Whether the program is named by an absolute path, and nothing contains U+0000.
    var isUsable: Bool {
        (1...Self.argumentsMax).contains(arguments.count) && arguments[0].hasPrefix("/")
            && !arguments.contains { $0.utf8.contains(0) }
    }

    /// Writes the launcher, readable and writable for this user only.
    func register(in folder: URL) throws {
        guard isUsable else { throw CocoaError(.fileWriteInvalidFileName) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(Self.name)
        try JSONEncoder().encode(self).write(to: file, options: .atomic)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}
