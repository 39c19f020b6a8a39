// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// What `ContentInfo.plist` says.
public struct ContentInfo: Sendable, Hashable {
    /// Of the key `IAPProductIdentifier`; the catalogue's rule for ids holds.
    public let productId: String
    /// Of the key `ContentVersion`: a ``Commerce/ContentVersion``.
    public let version: String

    /// The file's name, at the top of each package.
    static let fileName = "ContentInfo.plist"
    private struct Keys: Decodable {
        let ContentVersion: String
        let IAPProductIdentifier: String
    }

    /// Reads a property list in XML or binary form. The decoder limits how deep
    /// XML may be nested; ``BinaryPlist`` limits the binary form.
    init(plist: [UInt8]) throws(ContentFault) {
        guard !BinaryPlist.isClaimed(by: plist) || BinaryPlist.isSound(plist) else {
            throw Self.invalid("it is not a property list")
        }
        let keys: Keys
        do {
            keys = try PropertyListDecoder().decode(Keys.self, from: Data(plist))
        } catch let error as DecodingError {
            throw Self.invalid(Self.reason(error))
        } catch {
            throw Self.invalid("it is not a property list")
        }
        guard IDText.isID(keys.IAPProductIdentifier) else {
            throw Self.invalid("`IAPProductIdentifier` is not an id: \(IDText.rule)")
        }
        guard ContentVersion(keys.ContentVersion) != nil else {
            throw Self.invalid("`ContentVersion` is not a version: \(ContentVersion.rule)")
        }
        productId = keys.IAPProductIdentifier
        version = keys.ContentVersion
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _):
            "the key `\(key.stringValue)` is missing; add it with a text"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.last.map { "the value of `\($0.stringValue)` is not a text" }
                ?? "it is not a dictionary with the two keys"
        default: "it is not a property list"
        }
    }

    private static func invalid(_ reason: String) -> ContentFault {
        ContentFault(.infoInvalid, entry: fileName, reason + ".")
    }
}

/// What a check, a packing or an unpacking found.
public struct ContentSummary: Sendable, Hashable {
    public let info: ContentInfo
    /// Files and folders as the package lists them.
    public let entries: Int
    /// Of all files together.
    public let unpackedBytes: Int64
}
