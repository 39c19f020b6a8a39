// SPDX-License-Identifier: Apache-2.0

public import CatalogueFile
public import Commerce
import Foundation
import Yams

/// The properties that a catalogue file cannot express: `NAME.storekit.yaml`,
/// beside the file or package `NAME.storekit`.
public struct CatalogueOverlay: Hashable, Sendable {
    public var bundleID: String?
    public var appID: Int64?
    public var appName: String?
    /// The listings of the products that the overlay names.
    public var listings: [ProductID: Listing] = [:]
    /// The bytes of the file.
    public let bytes: [UInt8]

    /// The size of the largest overlay that is read.
    public static let bytesMax = 1024 * 1024
    /// Is appended to a catalogue file's name.
    public static let suffix = ".yaml"

    /// Reads the overlay beside a catalogue file or package. Nil if there is
    /// none.
    public static func beside(
        _ path: String
    ) throws(CatalogueFileFault) -> CatalogueOverlay? {
        let own = Self.path(beside: path)
        guard FileManager.default.fileExists(atPath: own) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: own) else {
            throw CatalogueFileFault(problems: [
                CatalogueProblem(
                    file: own, keyPath: "", rule: "the file cannot be read",
                    remedy: "check its permissions")
            ])
        }
        return try CatalogueOverlay(yaml: [UInt8](bytes), name: own)
    }

    /// The path of the overlay of a catalogue file or package.
    public static func path(beside path: String) -> String {
        (path.hasSuffix("/") ? String(path.dropLast()) : path) + suffix
    }

    /// Reads the bytes of an overlay. `name` is its name in problems.
    public init(yaml: [UInt8], name: String) throws(CatalogueFileFault) {
        bytes = yaml
        var reader = OverlayReader(file: name)
        if let root = reader.root(yaml) { reader.read(root, into: &self) }
        guard reader.problems.isEmpty else { throw CatalogueFileFault(problems: reader.problems) }
    }

    /// Sentences about what the overlay names and nobody has: images that are
    /// not in `images`, and products that the catalogue does not contain.
    public func warnings(images: Set<String>, catalogue: Catalogue) -> [String] {
        unknownImages(known: images).map { product, image in
            "\(product.value): the overlay names the image `\(image)`, which the app does not "
                + "have; upload it with `app image put`"
        }
            + strangers(to: catalogue).map {
                "\($0): the overlay names it, and the file does not"
            }
    }

    /// The images that the overlay names and that are not in `known`, by product.
    func unknownImages(known: Set<String>) -> [(product: ProductID, image: String)] {
        listings.sorted { $0.key.value < $1.key.value }.flatMap { id, listing in
            listing.images.filter { !known.contains($0) }.map { (id, $0) }
        }
    }

    /// The products that the overlay names and the catalogue does not contain.
    func strangers(to catalogue: Catalogue) -> [ProductID] {
        let known = Set(catalogue.products.map(\.id))
        return listings.keys.filter { !known.contains($0) }.sorted { $0.value < $1.value }
    }
}
