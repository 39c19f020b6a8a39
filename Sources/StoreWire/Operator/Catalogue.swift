// SPDX-License-Identifier: Apache-2.0

/// A catalogue file, to import or as exported.
public struct CatalogueDocument: Hashable, Sendable, Codable {
    /// The name of the file.
    public var name: String
    /// The whole text of the `.storekit` file.
    public var file: String
    /// The overlay beside it, YAML.
    public var overlay: String?
    /// Ids of the app's images. Present in answers, ignored in requests.
    public var images: [String]?
    /// The one of the images that is the app's icon and that no product shows. It is no
    /// part of the catalogue. Present in answers, ignored in requests.
    public var icon: String?

    public init(
        name: String, file: String, overlay: String? = nil, images: [String]? = nil,
        icon: String? = nil
    ) {
        self.name = name
        self.file = file
        self.overlay = overlay
        self.images = images
        self.icon = icon
    }
}

/// The changes of an import.
public struct CatalogueImported: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The number of products in the file.
    public var products: Int
    public var differences: [CatalogueChange]
    /// The file's warnings, one line each.
    public var warnings: [String]

    public init(
        bundleId: String, products: Int, differences: [CatalogueChange], warnings: [String]
    ) {
        self.bundleId = bundleId
        self.products = products
        self.differences = differences
        self.warnings = warnings
    }
}

/// One difference between two catalogues.
public struct CatalogueChange: Hashable, Sendable, Codable {
    /// `added`, `removed` or `changed`.
    public var kind: String
    public var productId: String?
    public var field: String?
    public var before: String?
    public var after: String?
    /// The difference as a line of text.
    public var line: String

    public init(
        kind: String, productId: String?, field: String?, before: String?, after: String?,
        line: String
    ) {
        self.kind = kind
        self.productId = productId
        self.field = field
        self.before = before
        self.after = after
        self.line = line
    }
}
