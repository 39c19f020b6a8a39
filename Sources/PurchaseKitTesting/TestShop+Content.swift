// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Crypto
import Foundation
import Shop
import StoreWire

/// Hosted content of the shop's products.
///
/// ```swift
/// try await shop.addContent(folder: "Caves")       // with ContentInfo.plist and Contents
/// try await device.buy("caves")
/// let bought = try await device.heard.first(.purchased)
/// device.queue.start(bought.downloads)
/// ```
extension TestShop {
    private static var context: RequestContext { RequestContext(requestID: "test") }

    /// Packs a folder, uploads it as a version of the product that its
    /// `ContentInfo.plist` names, and returns when devices can download it. Throws a
    /// ``ContentFault`` if the folder is no package, and a ``Refusal``.
    @discardableResult
    public func addContent(folder source: String) async throws -> String {
        let file = folder.file("upload.zip")
        let summary = try ContentPackage.pack(folder: source, to: file)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let digest = SHA256.hash(data: bytes).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        let (product, version) = (summary.info.productId, summary.info.version)
        _ = try await realm.content.begin(
            BeginContentRequest(version: version, length: Int64(bytes.count), sha256: digest),
            product: product, bundleID: bundleID.value, Self.context)
        for offset in stride(from: 0, to: bytes.count, by: ContentRoom.pieceBytesMax) {
            let end = min(offset + ContentRoom.pieceBytesMax, bytes.count)
            _ = try await realm.content.append(
                Array(bytes[offset..<end]), at: Int64(offset), to: version, product: product,
                bundleID: bundleID.value)
        }
        _ = try await realm.content.complete(
            version, product: product, bundleID: bundleID.value, Self.context)
        return version
    }

    /// Removes a version. What has not begun to download it gets another one.
    public func removeContent(_ version: String, of product: String) async throws {
        try await realm.content.remove(
            version, product: product, bundleID: bundleID.value, Self.context)
    }
}
