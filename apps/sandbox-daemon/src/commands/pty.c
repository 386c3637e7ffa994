/*
 * pty ROWS COLUMNS PROGRAM [ARGUMENT...]: runs a program on a terminal of its own; the same as pty.py, for images that
 * have no Python. One file, linked statically, so that it runs in any Linux image.
 *
 * Standard input is typed into the terminal, what the terminal shows is standard output. Descriptor 3 tells first, in one
 * byte, whether the program runs: 0, the number of the error, or 255 where there are no terminals; it takes sizes, each
 * two numbers of two bytes: rows and columns. Ends as the program does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { INPUT = 0, OUTPUT = 1, CONTROL = 3, NO_TERMINAL = 255, END_OF_INPUT = 4, PIECE = 64 * 1024 };

/* Bytes on their way. */
struct piece {
  unsigned char bytes[PIECE];
  size_t at, length;
};

static int waker;

static void on_child(int number) {
  int kept = errno;
  (void)number;
  if (write(waker, "c", 1) < 0) errno = kept; /* It is full: somebody will look. */
  errno = kept;
}

static void tell(int descriptor, unsigned char what) {
  while (write(descriptor, &what, 1) < 0 && errno == EINTR) continue;
}

static void resize(int master, unsigned rows, unsigned columns) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  ioctl(master, TIOCSWINSZ, &size); /* Fails when the program has just ended. */
}

static void become(char **program, int slave, int report) {
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  close(CONTROL);
  if (setsid() >= 0 && ioctl(slave, TIOCSCTTY, 0) >= 0 && dup2(slave, 0) >= 0 && dup2(slave, 1) >= 0 && dup2(slave, 2) >= 0)
    execvp(program[0], program);
  tell(report, errno & 0x7f);
  _exit(127);
}

/* 1: something came; 0: nothing now; -1: the end. */
static int fill(int descriptor, struct piece *piece) {
  ssize_t length = read(descriptor, piece->bytes, PIECE);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (length <= 0) return -1;
  piece->at = 0;
  piece->length = length;
  return 1;
}

/* -1: nobody reads. */
static int pass(int descriptor, struct piece *piece) {
  ssize_t length = write(descriptor, piece->bytes + piece->at, piece->length);
  if (length < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  piece->at += length;
  piece->length -= length;
  return 0;
}

static void take_sizes(int master, struct piece *sizes, unsigned char *half, size_t *known) {
  for (size_t at = 0; at < sizes->length; at++) {
    half[(*known)++] = sizes->bytes[at];
    if (*known < 4) continue;
    resize(master, half[0] << 8 | half[1], half[2] << 8 | half[3]);
    *known = 0;
  }
}

/* Passes bytes on, each way as fast as its reader takes them, until the program has ended; gives its wait status. */
static int relay(int master, pid_t child, int wake) {
  static struct piece typed, shown, sizes;
  unsigned char half[4];
  size_t known = 0;
  int status = 0, ended = 0, hears = 1, listens = 1, stands = 1;
  const int descriptors[] = {INPUT, OUTPUT, CONTROL, master};
  for (int each = 0; each < 4; each++) fcntl(descriptors[each], F_SETFL, fcntl(descriptors[each], F_GETFL) | O_NONBLOCK);
  while (!ended || shown.length > 0 || stands) {
    short of_master = (shown.length == 0 ? POLLIN : 0) | (typed.length > 0 ? POLLOUT : 0);
    struct pollfd ready[] = {
      {ended ? -1 : wake, POLLIN, 0},
      {listens ? CONTROL : -1, POLLIN, 0},
      {hears && stands && typed.length == 0 ? INPUT : -1, POLLIN, 0},
      {shown.length > 0 ? OUTPUT : -1, POLLOUT, 0},
      {stands && of_master != 0 ? master : -1, of_master, 0},
    };
    /* After its end nothing more comes than what is there, once it is looked for after that end. */
    int is_last = ended && (of_master & POLLIN) != 0;
    if (poll(ready, 5, ended && shown.length == 0 ? 0 : -1) < 0) continue;
    if (ready[0].revents != 0) {
      unsigned char drained[64];
      while (read(wake, drained, sizeof drained) > 0) continue;
      ended = waitpid(child, &status, WNOHANG) == child;
    }
    if (ready[1].revents != 0) {
      int found = fill(CONTROL, &sizes);
      if (found > 0) take_sizes(master, &sizes, half, &known);
      listens = found >= 0;
    }
    if (ready[2].revents != 0 && fill(INPUT, &typed) < 0) {
      hears = 0;
      typed.bytes[0] = END_OF_INPUT;
      typed.at = 0;
      typed.length = 1;
    }
    /* Nobody looks any more: the terminal hangs up. */
    if (ready[3].revents != 0 && pass(OUTPUT, &shown) < 0) _exit(1);
    if ((ready[4].revents & POLLOUT) != 0 && typed.length > 0 && pass(master, &typed) < 0) typed.length = 0;
    /* Nobody reads any more: else this would be told again and again. */
    if ((ready[4].revents & (POLLHUP | POLLERR)) != 0) typed.length = 0;
    if ((ready[4].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && shown.length == 0 && fill(master, &shown) < 0) stands = 0;
    if (is_last && ready[4].revents == 0) stands = 0;
  }
  return status;
}

static void end_as(int status) {
  if (WIFSIGNALED(status)) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int count, char **words) {
  if (count < 4) return 2;
  int wakes[2], told[2];
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), unlocked = 0, slave = -1;
  if (master >= 0 && ioctl(master, TIOCSPTLCK, &unlocked) >= 0)
    slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0 || pipe2(wakes, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(told, O_CLOEXEC) < 0) {
    tell(CONTROL, NO_TERMINAL);
    return 1;
  }
  resize(master, atoi(words[1]), atoi(words[2]));
  waker = wakes[1];
  signal(SIGCHLD, on_child);
  signal(SIGPIPE, SIG_IGN);
  pid_t child = fork();
  if (child == 0) become(words + 3, slave, told[1]);
  close(slave);
  close(told[1]);
  unsigned char fault = 0;
  if (child < 0) fault = EAGAIN;
  else while (read(told[0], &fault, 1) < 0 && errno == EINTR) continue;
  tell(CONTROL, fault);
  if (fault != 0) _exit(127);
  end_as(relay(master, child, wakes[0]));
}
