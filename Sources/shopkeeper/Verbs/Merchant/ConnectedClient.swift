// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation

/// The clients that `connect` knows, each with code that is ready to run. Values
/// are quoted as the language wants them, whatever a path contains.
enum ConnectedClient: String, CaseIterable, ExpressibleByArgument {
    case python, node, java, swift, php, curl

    func snippet(_ facts: ConnectionFacts) -> String {
        switch self {
        case .python: Self.python(facts)
        case .node: Self.node(facts)
        case .java: Self.java(facts)
        case .swift: Self.swift(facts)
        case .php: Self.php(facts)
        case .curl: Self.curl(facts)
        }
    }

    /// Whether the code begins with a client of Apple's that refuses to be made for the
    /// environment `Xcode`.
    func refuses(_ environment: Environment) -> Bool {
        switch self {
        case .python, .node, .java: environment == .xcode
        case .swift, .php, .curl: false
        }
    }

    /// Whether the code verifies data of production only with the app's number.
    var needsAppNumber: Bool {
        switch self {
        case .python, .node, .java, .swift: true
        case .php, .curl: false
        }
    }

    /// A literal in double quotes, for languages that read JSON's.
    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    private static func inSingleQuotes(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\")
            .replacingOccurrences(of: "'", with: "\\'")
        return "'\(escaped)'"
    }

    private static func python(_ facts: ConnectionFacts) -> String {
        """
        # pip install app-store-server-library; python ask.py TRANSACTION
        import ssl
        import sys

        from appstoreserverlibrary.api_client import AppStoreServerAPIClient
        from appstoreserverlibrary.models.Environment import Environment
        from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

        environment = Environment.\(facts.constant)
        bundle_id = \(quoted(facts.key.bundleID))
        with open(\(quoted(facts.key.path)), "rb") as file:
            client = AppStoreServerAPIClient(
                file.read(), \(quoted(facts.key.keyID)),
                \(quoted(facts.key.issuerID)), bundle_id, environment)
        client._base_url = \(quoted(facts.url))
        with open(\(quoted(facts.root))) as file:
            root = ssl.PEM_cert_to_DER_cert(file.read())
        verifier = SignedDataVerifier([root], False, environment, bundle_id, \(facts.pythonAppID))

        answer = client.get_transaction_info(sys.argv[1])
        print(verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo))

        """
    }

    private static func node(_ facts: ConnectionFacts) -> String {
        """
        // npm install @apple/app-store-server-library; node ask.mjs TRANSACTION
        import { X509Certificate } from "node:crypto"
        import { readFileSync } from "node:fs"
        import { AppStoreServerAPIClient, Environment, SignedDataVerifier }
            from "@apple/app-store-server-library"

        const environment = Environment.\(facts.constant)
        const bundleId = \(quoted(facts.key.bundleID))
        const client = new AppStoreServerAPIClient(
            readFileSync(\(quoted(facts.key.path)), "utf8"), \(quoted(facts.key.keyID)),
            \(quoted(facts.key.issuerID)), bundleId, environment)
        // In TypeScript the property is private: (client as any).urlBase
        client.urlBase = \(quoted(facts.url))
        const root = new X509Certificate(readFileSync(\(quoted(facts.root)))).raw
        const verifier = new SignedDataVerifier(
            [root], false, environment, bundleId\(facts.appID.map { ", \($0)" } ?? ""))

        const answer = await client.getTransactionInfo(process.argv[2])
        console.log(await verifier.verifyAndDecodeTransaction(answer.signedTransactionInfo))

        """
    }

    private static func java(_ facts: ConnectionFacts) -> String {
        """
        // com.apple.itunes.storekit:app-store-server-library; java Ask TRANSACTION
        import com.apple.itunes.storekit.client.AppStoreServerAPIClient;
        import com.apple.itunes.storekit.model.Environment;
        import com.apple.itunes.storekit.verification.SignedDataVerifier;
        import java.io.FileInputStream;
        import java.nio.file.Files;
        import java.nio.file.Path;
        import java.util.Set;

        public class Ask {
            public static void main(String[] arguments) throws Exception {
                var environment = Environment.\(facts.constant);
                var bundleId = \(quoted(facts.key.bundleID));
                var key = Files.readString(Path.of(\(quoted(facts.key.path))));
                var client = new AppStoreServerAPIClient(
                        key, \(quoted(facts.key.keyID)),
                        \(quoted(facts.key.issuerID)), bundleId, environment) {
                    @Override protected String getUrlForEnvironment(Environment environment) {
                        return \(quoted(facts.url));
                    }
                };
                var root = new FileInputStream(\(quoted(facts.root)));
                var verifier = new SignedDataVerifier(
                        Set.of(root), bundleId, \(facts.appID.map { "\($0)L" } ?? "null"), environment, false);

                var answer = client.getTransactionInfo(arguments[0]);
                System.out.println(
                        verifier.verifyAndDecodeTransaction(answer.getSignedTransactionInfo()));
            }
        }

        """
    }
}

extension ConnectedClient {
    /// Apple's library for Swift has no setting for another address, so the
    /// request is made without its client.
    private static func swift(_ facts: ConnectionFacts) -> String {
        """
        // Package app-store-server-library-swift, for the verification. Its AppStoreServerAPIClient
        // has no setting for another address, so the request is made without it:
        //     TOKEN=$(\(tokenCommand(facts))) swift run ask TRANSACTION
        import AppStoreServerLibrary
        import Foundation
        #if canImport(FoundationNetworking)
            import FoundationNetworking
        #endif

        struct Answer: Decodable { let signedTransactionInfo: String }

        let pem = try String(contentsOfFile: \(quoted(facts.root)), encoding: .utf8)
        let base64 = pem.split(separator: "\\n").filter { !$0.hasPrefix("-----") }.joined()
        let verifier = try SignedDataVerifier(
            rootCertificates: [Data(base64Encoded: base64)!],
            bundleId: \(quoted(facts.key.bundleID)), appAppleId: \(facts.appID.map { "\($0)" } ?? "nil"),
            environment: .\(facts.swiftCase), enableOnlineChecks: false)

        let base = \(quoted(facts.url))
        var request = URLRequest(
            url: URL(string: base + "/inApps/v1/transactions/" + CommandLine.arguments[1])!)
        request.setValue(
            "Bearer " + ProcessInfo.processInfo.environment["TOKEN"]!,
            forHTTPHeaderField: "Authorization")
        let (data, _) = try await URLSession.shared.data(for: request)
        let answer = try JSONDecoder().decode(Answer.self, from: data)
        print(
            await verifier.verifyAndDecodeTransaction(
                signedTransaction: answer.signedTransactionInfo))

        """
    }

    private static func php(_ facts: ConnectionFacts) -> String {
        """
        <?php
        // composer require firebase/php-jwt; php ask.php TRANSACTION
        require 'vendor/autoload.php';

        $token = Firebase\\JWT\\JWT::encode([
            'iss' => \(inSingleQuotes(facts.key.issuerID)),
            'bid' => \(inSingleQuotes(facts.key.bundleID)),
            'aud' => 'appstoreconnect-v1',
            'iat' => time(),
            'exp' => time() + 300,
        ], file_get_contents(\(inSingleQuotes(facts.key.path))), 'ES256', \(inSingleQuotes(facts.key.keyID)));

        $base = \(inSingleQuotes(facts.url));
        $request = curl_init($base . '/inApps/v1/transactions/' . $argv[1]);
        curl_setopt($request, CURLOPT_HTTPHEADER, ["Authorization: Bearer $token"]);
        curl_setopt($request, CURLOPT_RETURNTRANSFER, true);
        $answer = json_decode(curl_exec($request), true);
        // Verify it with the root certificate in \(VisiblePath(facts.root)).
        echo $answer['signedTransactionInfo'], PHP_EOL;

        """
    }

    private static func curl(_ facts: ConnectionFacts) -> String {
        """
        # sh ask.sh TRANSACTION
        curl --silent --show-error --fail-with-body \\
            --header "Authorization: Bearer $(\(tokenCommand(facts)))" \\
            \(ShellWord.quoted(facts.url + "/inApps/v1/transactions/"))"${1:?the id of a transaction}"

        """
    }

    private static func tokenCommand(_ facts: ConnectionFacts) -> String {
        let realm = facts.realm.map { " --realm " + ShellWord.quoted($0) } ?? ""
        return "\(OwnCommand.words()) key token --key \(ShellWord.quoted(facts.key.keyID)) "
            + "--key-file \(ShellWord.quoted(facts.key.path)) "
            + "--data \(ShellWord.quoted(facts.data))\(realm)"
    }
}

extension ConnectionFacts {
    /// The environment's name in Apple's libraries for Python, Node.js and Java.
    fileprivate var constant: String {
        switch environment {
        case .localTesting: "LOCAL_TESTING"
        default: environment.rawValue.uppercased()
        }
    }

    /// The environment's name in Apple's library for Swift.
    fileprivate var swiftCase: String {
        environment.rawValue.prefix(1).lowercased() + environment.rawValue.dropFirst()
    }

    fileprivate var pythonAppID: String { appID.map { "\($0)" } ?? "None" }
}

/// A path in a comment of one line.
private struct VisiblePath: CustomStringConvertible {
    let description: String

    init(_ path: String) {
        description = path.split(whereSeparator: \.isNewline).joined(separator: " ")
            .replacingOccurrences(of: "?>", with: "? >")
    }
}
