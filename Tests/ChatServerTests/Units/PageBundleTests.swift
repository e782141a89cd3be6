#if Server
    import Testing

    @testable import ChatServer

    @Suite struct PageBundleTests {
        private static let rest = "export const views = {};\n"

        private func join(_ entry: String, _ others: [String: String] = [:], rest: String = Self.rest) throws
            -> PageBundle.Files
        {
            var modules = others
            (modules["app.js"], modules["rest.js"]) = (entry, rest)
            return try PageBundle.join(modules, entry: "app.js", rest: "rest.js") { "/rest.\($0.utf8.count).js" }
        }

        @Test func modulesBecomeFunctionsInTheOrderOfTheirImports() throws {
            let files = try join(
                """
                // The page.

                import { a, b as c } from "./x.js";
                import * as y from "./y.js";

                /** Begins.
                 * Really. */
                a(`${c}`, () => {
                  // Nothing.
                  y.begin("// no comment");
                });
                const more = () => import("./rest.js").then(({ views }) => views);
                """,
                [
                    "x.js":
                        "import {\n  begin,\n} from \"./y.js\";\nexport const b = 1;\nexport function a() {\n  begin();\n}\n",
                    "y.js": "export async function begin() {}",
                ],
                rest: "import { a } from \"./x.js\";\nexport const views = { a };")
            let restText = """
                export default function (modules) {
                if (modules["rest.js"]) return modules["rest.js"];
                modules["rest.js"] = (() => {
                const { a } = modules["x.js"];
                const views={a};
                return { views };
                })();
                return modules["rest.js"];
                }

                """
            #expect(files.rest == restText)
            #expect(
                files.entry == """
                    const modules = {};
                    const importRest = async () => (await import("/rest.\(restText.utf8.count).js")).default(modules);
                    modules["y.js"] = (() => {
                    async function begin(){}
                    return { begin };
                    })();
                    modules["x.js"] = (() => {
                    const { begin } = modules["y.js"];
                    const b=1;
                    function a(){
                    begin();
                    }
                    return { b, a };
                    })();
                    modules["app.js"] = (() => {
                    const { a, b: c } = modules["x.js"];
                    const y = modules["y.js"];
                    a(`${c}`,()=>{
                    y.begin("// no comment");
                    });
                    const more=()=>importRest().then(({views})=>views);
                    return {  };
                    })();
                    export { modules };

                    """)
        }

        @Test(arguments: [
            ("import x from \"./y.js\";", "an import that is not supported"),
            ("import \"./y.js\";", "an import that is not supported"),
            ("import { x } from \"y\";", "an import that is not supported"),
            ("import { x }", "an import that does not end"),
            ("import { x as } from \"./y.js\";", "an import that is not supported"),
            ("import { z } from \"./y.js\";", "y.js does not export z"),
            ("import { x } from \"./none.js\";", "there is no module none.js"),
            ("export let x = 1;", "an export that is not supported"),
            ("export default 1;", "an export that is not supported"),
            ("export { x };", "an export that is not supported"),
            ("export const { x } = y;", "an export that is not supported"),
            ("export * from \"./y.js\";", "an export that is not supported"),
            ("const x = `a\nb`;", "a literal or comment of several lines"), ("/* x", "a comment that does not end"),
            ("/* x */ y();", "code after a comment"), ("/* x */ y(); /* z */", "code after a comment"),
            ("import(\"./y.js\");", "a dynamic import of another module than rest.js, or import.meta"),
            ("f(import.meta.url);", "a dynamic import of another module than rest.js, or import.meta"),
            ("import { views } from \"./rest.js\";", "the first file imports it"),
            ("import * as app from \"./app.js\";", "a cycle of imports through app.js"),
        ])
        func otherSyntaxIsAnError(source: String, reason: String) {
            let error = #expect(throws: PageBundleError.self) { try join(source, ["y.js": "export const x = 1;"]) }
            #expect(error?.reason == reason)
        }

        @Test func secondFileDoesNotImportItself() {
            #expect(throws: PageBundleError.self) { try join("", rest: "import(\"./rest.js\");") }
        }

        @Test(arguments: [
            ("const a = b / c / d;  // e", "const a=b / c / d;"), ("x = /^```[/`] {2}'/u;", "x=/^```[/`] {2}'/u;"),
            ("return /[\"']  \\/  /.test( a );", "return /[\"']  \\/  /.test(a);"),
            ("f(a [0] / 2, b) / 3;", "f(a[0]/ 2,b)/ 3;"),
            ("`a  ${ { b: `c  ${ d } e` }.b }  f` + 'g  h' ;", "`a  ${{b:`c  ${d} e`}.b}  f` + 'g  h';"),
            ("} else if (typeof x === 'a  b') {", "}else if(typeof x==='a  b'){"), ("a  + +b - -c", "a + +b - -c"),
        ])
        func spacesThatSeparateNothingAreLeftOut(line: String, expected: String) {
            #expect(ScriptLine.compact(line) == expected)
        }

        @Test(arguments: ["`a", "`a ${b", "'a", "\"a\\\"", "/a", "a(/[/])", "`${`a`", "a /* b */ c", "`${a // b"])
        func literalsOfSeveralLinesAreAnError(line: String) { #expect(ScriptLine.compact(line) == nil) }

        @Test func stylesLoseCommentsAndIndentation() {
            let style = "/* A\n * comment. */\na {\n  content: \"/* no */  \\\"\"; /* b */\n\n  color: red;\n}\n"
            #expect(PageBundle.compact(style: style) == "a {\ncontent: \"/* no */  \\\"\"; \ncolor: red;\n}\n")
        }

        @Test func namesOfFilesChangeWithTheirContent() throws {
            func files(_ style: String, document: String = "<link href=\"/style.css\"><script src=\"/app.js\">") throws
                -> PageFiles
            {
                try PageFiles([
                    "/": document, "/style.css": style, "/app.js": "f();", "/rest.js": Self.rest, "/icon.svg": "",
                    "/worker.js": "w();\n",
                ]) {
                    "\(1_000_000_000_000_000 + $0.utf8.count)"
                }
            }
            let (first, second) = (try files("a {}"), try files("a {color: red}"))
            #expect(first.named.count == 3)
            #expect(Set(first.named.keys).intersection(second.named.keys).count == 2)
            for path in first.named.keys where path.hasPrefix("/rest") == false {
                #expect(first.changed["/"]?.contains("\"\(path)\"") == true)
            }
            for path in first.named.keys { #expect(first.changed["/worker.js"]?.contains("\"\(path)\"") == true) }
            #expect(throws: PageBundleError.self) { try files("a {}", document: "") }
        }
    }
#endif
