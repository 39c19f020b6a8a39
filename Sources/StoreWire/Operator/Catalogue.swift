// SPDX-License-Identifier: Apache-2.0

/// A catalogue file to be sold from, or as it is sold now.
public struct CatalogueDocument: Hashable, Sendable, Codable {
    /// What the file is called.
    public var name: String
    /// Every character of the `.storekit` file.
    public var file: String
    /// The overlay beside it, YAML.
    public var overlay: String?
    /// Ids of the app's images; told, not asked for.
    public var images: [String]?

    public init(name: String, file: String, overlay: String? = nil, images: [String]? = nil) {
        self.name = name
        self.file = file
        self.overlay = overlay
        self.images = images
    }
}

/// What an import has changed.
public struct CatalogueImported: Hashable, Sendable, Codable {
    public var bundleId: String
    /// How many products the file names.
    public var products: Int
    public var differences: [CatalogueChange]
    /// What was odd about the file, a line each.
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

/// One line of what differs between two catalogues.
public struct CatalogueChange: Hashable, Sendable, Codable {
    /// `added`, `removed` or `changed`.
    public var kind: String
    public var productId: String?
    public var field: String?
    public var before: String?
    public var after: String?
    /// The line for people.
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
