from enum import *
