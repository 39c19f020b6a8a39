// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Crypto
import Foundation

/// A small package.
enum SamplePackage {
    static let product = "level"
    static let version = "1.0"

    /// Nil if it cannot be made, which the tests that use it notice.
    static let zip: [UInt8] = (try? make(product, version)) ?? []
    static let sha256 = digest(zip)

    static func digest(_ bytes: [UInt8]) -> String { hexadecimal(SHA256.hash(data: bytes)) }

    /// `filler`: bytes of a file in it that do not compress.
    static func make(_ product: String, _ version: String, filler: Int = 0) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("package-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = folder.appendingPathComponent("in/Contents")
        try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
        let info = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>ContentVersion</key><string>\(version)</string>
            <key>IAPProductIdentifier</key><string>\(product)</string>
            </dict></plist>
            """
        try Data(info.utf8).write(to: folder.appendingPathComponent("in/ContentInfo.plist"))
        try Data("a map".utf8).write(to: contents.appendingPathComponent("map.txt"))
        if filler > 0 {
            let bytes = Randomness.seeded(5).bytes(filler)
            try Data(bytes).write(to: contents.appendingPathComponent("filler"))
        }
        let zip = folder.appendingPathComponent("out.zip")
        _ = try ContentPackage.pack(
            folder: folder.appendingPathComponent("in").path, to: zip.path)
        return [UInt8](try Data(contentsOf: zip))
    }
}

/// Hosted content: an upload from its beginning to its removal, and the link of a
/// customer in between.
extension RouteStep {
    private static let path = "/operator/v1/apps/{app}/products/\(SamplePackage.product)/content"
    private static let version = path + "/" + SamplePackage.version
    private static let forged =
        "/content/v1/\(SamplePackage.sha256)?realm=default&customer=1&transaction=1&expires=1"
        + "&signature=00"

    static let content = [
        RouteStep(
            route: "POST /operator/v1/apps/{}/products/{}/content",
            good: Question(
                path, .operator,
                body: #"{"version":"\#(SamplePackage.version)","# + #""sha256":"#
                    + #""\#(SamplePackage.sha256)","length":\#(SamplePackage.zip.count)}"#),
            bad: Question(
                path, .operator, body: #"{"version":"one","sha256":"","length":1}"#),
            code: "contentVersionInvalid", seenElsewhere: [200]),
        RouteStep(
            route: "PUT /operator/v1/apps/{}/products/{}/content/{}",
            good: Question(
                version + "?offset=0", .operator, body: "hex:" + hexadecimal(SamplePackage.zip)),
            bad: Question(version + "?offset=7", .operator, body: "hex:00"),
            code: "contentOffsetWrong"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/products/{}/content/{}",
            good: Question(version, .operator), bad: Question(path + "/7", .operator),
            code: "contentUnknown"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/products/{}/content/{}/completion",
            good: Question(version + "/completion", .operator),
            bad: Question(path + "/7/completion", .operator), code: "contentUnknown",
            seenElsewhere: [202]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/content",
            good: Question("/operator/v1/apps/{app}/content", .operator),
            bad: Question("/operator/v1/apps/{app}/content?after=x", .operator),
            code: "cursorInvalid"),
        RouteStep(
            route: "POST /device/v1/transactions/{}/content",
            good: Question("/device/v1/transactions/{level}/content", .device, body: "{}"),
            bad: Question("/device/v1/transactions/1/content", .device, body: "{}"),
            code: "transactionNotFound", told: ["link=url"]),
        RouteStep(
            route: "GET /content/v1/{}", good: Question("{link}", nil),
            bad: Question(forged, nil), code: "contentLinkInvalid",
            seenElsewhere: [206, 304, 416]),
        // The answer to HEAD has no body, and so no code.
        RouteStep(
            route: "HEAD /content/v1/{}", good: Question("{link}", nil),
            bad: Question(forged, nil), code: nil, seenElsewhere: [304]),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/products/{}/content/{}",
            good: Question(version, .operator), bad: Question(path + "/7", .operator),
            code: "contentUnknown"),
    ]
}
