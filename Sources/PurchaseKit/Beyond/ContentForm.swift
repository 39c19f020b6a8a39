// SPDX-License-Identifier: Apache-2.0

/// What the `contentURL` of a finished download leads to.
public struct ContentForm: Hashable, Sendable {
    private let name: String

    /// A folder with `ContentInfo.plist` and `Contents`, as on Apple's platforms.
    public static let folder = ContentForm(name: "folder")
    /// The package as it came, a ZIP with the same.
    public static let zip = ContentForm(name: "zip")
}
