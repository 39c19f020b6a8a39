// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import StrictJSON

/// A StoreKit configuration file (`*.storekit`): its contents, and its bytes,
/// so that nothing is lost when it is written back.
///
/// Reading depends on the keys that are present and never on `version`, because
/// newer editors add keys without raising it. Suites and bundles in a file are
/// kept but not read.
public struct CatalogueFile: Sendable {
    public let contents: CatalogueContents
    /// What was skipped or guessed, in the order of the file.
    public let warnings: [CatalogueProblem]
    /// The package's images: their paths by id.
    public let images: [String: String]
    /// The products that the file shows with an image, by the image's id.
    public let imageUsers: [String: [ProductID]]
    /// The name of the file when it was read.
    public let name: String
    let tree: JSONTree
    /// The bytes as read, with any changes in place.
    public let bytes: [UInt8]

    /// The products, in the order of the file.
    public var catalogue: Catalogue { contents.catalogue }

    /// The size of the largest file that is read.
    public static let bytesMax = 16 * 1024 * 1024
    static let limits = JSONLimits(bytesMax: bytesMax, depthMax: JSONNesting.depthMax)

    /// Reads a file, or a package: a folder `NAME.storekit` that contains
    /// `Configuration.storekit` and images in `Assets`.
    public init(contentsOf path: String) throws(CatalogueFileFault) {
        let bytes = try Self.read(path)
        try self.init(json: bytes, name: path, images: Self.images(in: path))
    }

    /// Reads the bytes of a file. `name` is its name in problems.
    public init(json: [UInt8], name: String) throws(CatalogueFileFault) {
        try self.init(json: json, name: name, images: [:])
    }

    /// Reads the bytes of a file, with the ids of images that are stored
    /// elsewhere.
    public init(
        json: [UInt8], name: String, images: [String]
    ) throws(CatalogueFileFault) {
        let places = Dictionary(images.map { ($0, $0) }) { first, _ in first }
        try self.init(json: json, name: name, images: places)
    }

    init(json: [UInt8], name: String, images: [String: String]) throws(CatalogueFileFault) {
        try self.init(try Self.parse(json, name), bytes: json, name: name, images: images)
    }

    init(
        _ tree: JSONTree, bytes: [UInt8], name: String, images: [String: String]
    ) throws(CatalogueFileFault) {
        var reader = CatalogueReader(file: name, images: Set(images.keys))
        contents = reader.contents(Node(tree, ""))
        guard reader.errors.isEmpty else { throw CatalogueFileFault(problems: reader.errors) }
        warnings = reader.warnings
        imageUsers = reader.imageUsers
        self.tree = tree
        self.bytes = bytes
        self.name = name
        self.images = images
    }

    // MARK: Reading

    private static func read(_ path: String) throws(CatalogueFileFault) -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw CatalogueFileFault(path, "", "there is no such file", "name a .storekit file")
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
        do {
            return [UInt8](try handle.read(upToCount: bytesMax + 1) ?? Data())
        } catch {
            throw CatalogueFileFault(path, "", "the file cannot be read", "name a regular file")
        }
    }

    /// Returns images by id. Upper and lower case are equal in a file's
    /// extension.
    private static func images(in path: String) -> [String: String] {
        let folder = path + "/Assets"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var images: [String: String] = [:]
        for name in names.sorted() where name.lowercased().hasSuffix(".png") {
            images[String(name.dropLast(4))] = folder + "/" + name
        }
        return images
    }

    private static func parse(
        _ json: [UInt8], _ name: String
    ) throws(CatalogueFileFault) -> JSONTree {
        guard json.count <= bytesMax else {
            throw CatalogueFileFault(
                name, "", "the file has more than \(bytesMax) bytes",
                "split the catalogue or shorten its words")
        }
        let start = String(decoding: json.prefix(64), as: UTF8.self)
        if start.hasPrefix("<") || start.hasPrefix("bplist") {
            throw CatalogueFileFault(
                name, "",
                "the file is \(start.hasPrefix("<") ? "XML" : "a property list"), not JSON",
                "make a StoreKit configuration file in Xcode, or by hand as JSON")
        }
        do throws(JSONFailure) {
            return try JSONTree(json, limits: limits)
        } catch {
            throw CatalogueFileFault(
                name, "", "the file is not JSON: \(error)",
                "check it with a JSON linter and save it as UTF-8")
        }
    }
}
