// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live

/// A variable that cannot be used, with the rule and the remedy.
public struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The variable's name.
    public let variable: String
    /// One sentence.
    public let message: String

    public var description: String { "\(variable): \(message)" }
}

extension DeviceConfiguration {
    /// The names of the variables.
    public static let variables = [
        "SHOPKEEPER_URL", "SHOPKEEPER_BUNDLE_ID", "SHOPKEEPER_APP_VERSION",
        "SHOPKEEPER_ENVIRONMENT", "SHOPKEEPER_CUSTOMER", "SHOPKEEPER_PASSWORD",
        "SHOPKEEPER_DEVICE", "SHOPKEEPER_ROOT", "SHOPKEEPER_SHEET", "SHOPKEEPER_CODE",
        "SHOPKEEPER_RESTRICTED",
    ]

    /// Makes a configuration from the process's environment. A release build
    /// ignores the environment unless its code calls this.
    public static func fromEnvironment() throws(ConfigurationFault) -> DeviceConfiguration {
        try fromEnvironment(Live.environment)
    }

    /// Makes a configuration from variables. Empty ones count as absent.
    public static func fromEnvironment(
        _ environment: [String: String]
    ) throws(ConfigurationFault) -> DeviceConfiguration {
        func value(_ name: String) -> String? {
            environment["SHOPKEEPER_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        }
        var configuration = DeviceConfiguration(
            storeURL: try storeURL(value("URL")),
            bundleID: value("BUNDLE_ID").map { BundleID($0) },
            folder: value("DEVICE").map { URL(fileURLWithPath: $0, isDirectory: true) },
            root: try value("ROOT").map { path throws(ConfigurationFault) in try root(path) },
            sheet: try sheet(value("SHEET")))
        configuration.appVersion = value("APP_VERSION") ?? configuration.appVersion
        configuration.environment = try storeEnvironment(value("ENVIRONMENT"))
        configuration.customer = value("CUSTOMER")
        configuration.password = value("PASSWORD")
        configuration.code = value("CODE")
        configuration.isRestricted = try isRestricted(value("RESTRICTED"))
        return configuration
    }

    private static func storeURL(_ text: String?) throws(ConfigurationFault) -> URL {
        guard let url = URL(string: text ?? defaultStoreURL), url.host != nil,
            let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme)
        else {
            throw ConfigurationFault(
                variable: "SHOPKEEPER_URL",
                message: "it is no http or https URL; \(defaultStoreURL) would be one")
        }
        return url
    }

    private static func storeEnvironment(
        _ word: String?
    ) throws(ConfigurationFault) -> Environment? {
        guard let word else { return nil }
        let known = Environment.known.first { $0.rawValue.lowercased() == word.lowercased() }
        guard let known else {
            throw ConfigurationFault(
                variable: "SHOPKEEPER_ENVIRONMENT",
                message: "it is Production, Sandbox, Xcode, LocalTesting or absent")
        }
        return known
    }

    private static func sheet(_ word: String?) throws(ConfigurationFault) -> Sheet {
        switch word {
        case nil: return .automatic
        case "terminal": return .terminal
        case "confirm": return .confirm
        case "cancel": return .cancel
        default:
            throw ConfigurationFault(
                variable: "SHOPKEEPER_SHEET", message: "it is terminal, confirm or cancel")
        }
    }

    private static func isRestricted(_ word: String?) throws(ConfigurationFault) -> Bool {
        switch word?.lowercased() {
        case nil, "0", "false", "no": return false
        case "1", "true", "yes": return true
        default:
            throw ConfigurationFault(
                variable: "SHOPKEEPER_RESTRICTED", message: "it is 1, or 0 or absent")
        }
    }

    private static func root(_ path: String) throws(ConfigurationFault) -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ConfigurationFault(
                variable: "SHOPKEEPER_ROOT", message: "there is no readable file at \(path)")
        }
        guard let certificate = Certificates.der([UInt8](bytes)) else {
            throw ConfigurationFault(
                variable: "SHOPKEEPER_ROOT",
                message: "\(path) holds no certificate, or more than one, in PEM or DER")
        }
        return certificate
    }
}

/// Reads files with one certificate.
enum Certificates {
    /// Returns the certificate's DER, from PEM or DER. Nil unless there is
    /// exactly one.
    static func der(_ bytes: [UInt8]) -> [UInt8]? {
        // The DER of a certificate is a SEQUENCE whose length is in the long
        // form.
        if bytes.count > 4, bytes[0] == 0x30, bytes[1] & 0x80 != 0 { return bytes }
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----")
        guard parts.count == 2,
            let body = parts[1].components(separatedBy: "-----END CERTIFICATE-----").first,
            let data = Data(base64Encoded: body, options: .ignoreUnknownCharacters),
            !data.isEmpty
        else { return nil }
        return [UInt8](data)
    }
}
