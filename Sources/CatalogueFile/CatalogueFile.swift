// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// What a StoreKit configuration file (`*.storekit`) says, as far as products,
/// their words, the storefront and the locale.
///
/// Read by what is there, never by `version`: newer editors add keys and keep
/// an older number. Suites, bundles and offers are not read yet.
public struct CatalogueFile: Sendable {
    /// The products in the file's order: `products`, non-renewing
    /// subscriptions, then the groups' subscriptions.
    public let catalogue: Catalogue
    /// What was passed over or guessed, in the file's order.
    public let warnings: [CatalogueProblem]

    /// The largest file that is read.
    public static let bytesMax = 16 * 1024 * 1024

    /// Reads a file, or a package: a folder `NAME.storekit` that holds
    /// `Configuration.storekit`.
    public init(contentsOf path: String) throws(CatalogueFileFault) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw CatalogueFileFault(
                path, "", "there is no such file", "name a .storekit file")
        }
        let file = isFolder.boolValue ? path + "/Configuration.storekit" : path
        guard let handle = FileHandle(forReadingAtPath: file) else {
            throw CatalogueFileFault(
                path, "",
                isFolder.boolValue
                    ? "the folder holds no readable Configuration.storekit"
                    : "the file cannot be read",
                isFolder.boolValue ? "name a .storekit file or package" : "check its permissions")
        }
        defer { try? handle.close() }
        let data: Data
        do {
            data = try handle.read(upToCount: Self.bytesMax + 1) ?? Data()
        } catch {
            throw CatalogueFileFault(path, "", "the file cannot be read", "name a regular file")
        }
        try self.init(json: [UInt8](data), name: path)
    }

    /// Reads the bytes of a file that problems shall call `name`.
    public init(json: [UInt8], name: String) throws(CatalogueFileFault) {
        guard json.count <= Self.bytesMax else {
            throw CatalogueFileFault(
                name, "", "the file has more than \(Self.bytesMax) bytes",
                "split the catalogue or shorten its words")
        }
        let root = try Self.parse(json, name)
        var reader = CatalogueReader(file: name)
        let catalogue = reader.catalogue(root)
        guard reader.errors.isEmpty else { throw CatalogueFileFault(problems: reader.errors) }
        self.catalogue = catalogue
        warnings = reader.warnings
    }

    private static func parse(_ json: [UInt8], _ name: String) throws(CatalogueFileFault) -> Node {
        let start = String(decoding: json.prefix(64), as: UTF8.self)
        if start.hasPrefix("<") || start.hasPrefix("bplist") {
            throw CatalogueFileFault(
                name, "",
                "the file is \(start.hasPrefix("<") ? "XML" : "a property list"), not JSON",
                "make a StoreKit configuration file in Xcode, or by hand as JSON")
        }
        guard JSONNesting.isWithin(json) else {
            throw CatalogueFileFault(
                name, "", "the file has more than \(JSONNesting.depthMax) values inside each other",
                "remove what is nested")
        }
        do {
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(json))
            return Node(value, "")
        } catch {
            throw CatalogueFileFault(
                name, "", "the file is not JSON", "check it with a JSON linter and save it as UTF-8"
            )
        }
    }
}
