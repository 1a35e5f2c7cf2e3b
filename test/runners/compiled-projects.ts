import type { RunnerCase } from "./kit.ts";

type Project = Omit<RunnerCase, "runner" | "modules">;

const GO = `package cart

import (
	"fmt"
	"testing"
)

func TestAdds(t *testing.T) { t.Log("not shown") }

func TestRemoves(t *testing.T) {
	t.Log("first")
	t.Errorf("got %d\\nwant 2", 1)
}

func TestEmpties(t *testing.T) { t.Skip("later") }

func TestOuter(t *testing.T) {
	fmt.Println("printed")
	t.Log("before")
	t.Run("good", func(t *testing.T) { t.Log("not shown") })
	t.Run("bad", func(t *testing.T) { t.Error("inner") })
	t.Log("after")
}

func ExampleTotal() {
	fmt.Println("x")
	// Output: y
}
`;

export const go: Project = {
  command: "go test ./...",
  files: {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "cart/cart.go": "package cart\n\nfunc Total() {}\n",
    "cart/cart_test.go": GO,
    "order/order_test.go": 'package order\n\nimport "testing"\n\nfunc TestX(t *testing.T) { undefined() }\n',
    "plain/plain.go": "package plain\n",
    "user/user_test.go": 'package user\n\nimport "testing"\n\nfunc TestName(t *testing.T) {}\n',
  },
  expected: {
    "cart/cart_test.go > ExampleTotal": "failed",
    "cart/cart_test.go > TestAdds": "passed",
    "cart/cart_test.go > TestEmpties": "skipped",
    "cart/cart_test.go > TestOuter": "failed",
    "cart/cart_test.go > TestOuter/bad": "failed",
    "cart/cart_test.go > TestOuter/good": "passed",
    "cart/cart_test.go > TestRemoves": "failed",
    "example.com/shop/order": "not-loaded",
    "user/user_test.go > TestName": "passed",
  },
  exitCode: 2,
};

const RUST = `pub mod cart;

/// \`\`\`
/// assert_eq!(shop::one(), 1);
/// \`\`\`
pub fn one() -> i32 { 1 }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}

    #[test]
    #[ignore]
    fn empties() {}
}
`;

export const cargo: Project = {
  command: "cargo test -q --offline --no-fail-fast",
  files: {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": RUST,
    "src/cart.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn removes() { assert_eq!(1, 2); }\n}\n",
    "tests/whole.rs": "#[test]\nfn works() {}\n",
  },
  expected: {
    "src/cart.rs > cart::tests::removes": "failed",
    "src/lib.rs > src/lib.rs - one": "passed",
    "src/lib.rs > tests::adds": "passed",
    "src/lib.rs > tests::empties": "skipped",
    "tests/whole.rs > works": "passed",
  },
  exitCode: 101,
  env: { RUST_TEST_THREADS: "1" },
};

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope>
    </dependency>
  </dependencies>
  <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></build>
</project>
`;

const JAVA = `package shop;

import org.junit.jupiter.api.*;

class CartTest {
  @Test void adds() {}
  @Test void removes() { Assertions.assertEquals(1, 2); }
  @Disabled @Test void empties() {}
}
`;

export const maven: Project = {
  command: "mvn -q test",
  files: { "pom.xml": POM, "src/test/java/shop/CartTest.java": JAVA },
  expected: {
    "src/test/java/shop/CartTest.java > CartTest > adds": "passed",
    "src/test/java/shop/CartTest.java > CartTest > empties": "skipped",
    "src/test/java/shop/CartTest.java > CartTest > removes": "failed",
  },
  exitCode: 1,
};
