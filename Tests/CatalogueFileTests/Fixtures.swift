// SPDX-License-Identifier: Apache-2.0

/// Files as an editor of each generation writes them, made up for these tests.
enum Fixtures {
    /// Every key of the newest editors, in their way of writing.
    static let full = """
        {
          "appPolicies" : {
            "eula" : "",
            "policies" : [
              {
                "locale" : "en_US",
                "policyText" : "",
                "policyURL" : ""
              }
            ]
          },
          "identifier" : "5A7E0C1D",
          "nonRenewingSubscriptions" : [
            {
              "displayPrice" : "4.99",
              "familyShareable" : false,
              "internalID" : "0B1C2D3E",
              "localizations" : [

              ],
              "productID" : "zoo.season",
              "referenceName" : "One season",
              "type" : "NonRenewingSubscription"
            }
          ],
          "products" : [
            {
              "displayPrice" : "0.99",
              "familyShareable" : false,
              "internalID" : "11AA22BB",
              "localizations" : [
                {
                  "description" : "Five bananas for the monkeys.",
                  "displayName" : "Five bananas",
                  "locale" : "en_US"
                },
                {
                  "description" : "Fünf Bananen für die Affen.",
                  "displayName" : "Fünf Bananen",
                  "locale" : "de"
                }
              ],
              "productID" : "zoo.bananas.5",
              "referenceName" : null,
              "type" : "Consumable"
            },
            {
              "displayPrice" : "14.0",
              "familyShareable" : true,
              "internalID" : "33CC44DD",
              "localizations" : [
                {
                  "description" : "🐒",
                  "displayName" : "Monkey house",
                  "locale" : "en_US"
                }
              ],
              "productID" : "zoo.house",
              "referenceName" : "House",
              "type" : "NonConsumable"
            }
          ],
          "settings" : {
            "_applicationInternalID" : "6448000001",
            "_developerTeamID" : "AAAAAAAAAA",
            "_lastSynchronizedDate" : 771234567.12345602,
            "_locale" : "de_DE",
            "_storefront" : "DEU",
            "_storeKitErrors" : [
              {
                "current" : null,
                "enabled" : false,
                "name" : "Load Products"
              }
            ],
            "_timeRate" : 15
          },
          "subscriptionBundleGroups" : [

          ],
          "subscriptionGroups" : [
            {
              "id" : "77EE88FF",
              "localizations" : [

              ],
              "name" : "Keeper",
              "subscriptions" : [
                {
                  "adHocOffers" : [

                  ],
                  "codeOffers" : [

                  ],
                  "displayPrice" : "2.99",
                  "familyShareable" : false,
                  "groupNumber" : 1,
                  "internalID" : "99001122",
                  "introductoryOffer" : {
                    "internalID" : "33445566",
                    "paymentMode" : "free",
                    "subscriptionPeriod" : "P1W"
                  },
                  "localizations" : [

                  ],
                  "productID" : "zoo.keeper.monthly",
                  "recurringSubscriptionPeriod" : "P1M",
                  "referenceName" : "Keeper, monthly",
                  "subscriptionGroupID" : "77EE88FF",
                  "type" : "RecurringSubscription"
                }
              ]
            }
          ],
          "version" : {
            "major" : 6,
            "minor" : 3
          }
        }

        """

    /// One consumable with `fields` in place of, or beside, its own.
    static func product(_ fields: String = "") -> String {
        """
        {"products": [{"productID": "a", "type": "Consumable", "displayPrice": "1"\(fields)}]}
        """
    }

    /// The same with members beside its products.
    static func beside(_ members: String) -> String {
        "{\(members), \(product().dropFirst())"
    }
}
